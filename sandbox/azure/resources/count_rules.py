"""Rules of AKS on the number of nodes of a pool and of pods of a node."""

from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources.azure_pool_request import PoolRequest
from sandbox.cloud import rules

_FEWEST_PODS_A_NODE, _MOST_PODS_A_NODE = 10, 250
_FEWEST_PODS_A_POOL = 30


def count_present(request: PoolRequest) -> AzureRefused | None:
    # azure-native #2943, also with autoscaling on: the service does not apply the REST text's default of 1. UNCONFIRMED for a
    # new inline pool. An inline entry of an existing pool keeps the current count.
    if "count" in request.wanted or (request.inline and request.current is not None):
        return None
    refused = aks("InvalidParameter", "Required parameter properties.count is missing (null).", "properties.count")
    return refused.as_read() if request.inline else refused


@rules.as_read
def bounds_only_with_autoscaling(request: PoolRequest) -> AzureRefused | None:
    # Text UNCONFIRMED.
    if request.body["enableAutoScaling"]:
        return None
    for field in ("minCount", "maxCount"):
        if field in request.wanted:
            text = f"Parameter {field} can only be set when enableAutoScaling is true."
            return aks("InvalidParameter", text, f"agentPoolProfile.{field}")
    return None


@rules.as_read
def autoscaling_bounds(request: PoolRequest) -> AzureRefused | None:
    # The schema has no limits for these, only the service; texts UNCONFIRMED.
    if not request.body["enableAutoScaling"]:
        return None
    least, most = request.body.get("minCount"), request.body.get("maxCount")
    if least is None or most is None:
        text = "minCount and maxCount are required when enableAutoScaling is true."
        return aks("InvalidParameter", text, "agentPoolProfile.enableAutoScaling")
    lowest = 1 if request.system else 0
    if not lowest <= least <= most <= 1000 or most < 1:
        text = f"minCount {least} and maxCount {most} must satisfy {lowest} <= minCount <= maxCount <= 1000."
        return aks("InvalidParameter", text, "agentPoolProfile.minCount")
    return None


def count_bounds(request: PoolRequest) -> AzureRefused | None:
    # CAPZ #5947 (2025-10)
    lowest, highest = (1 if request.system else 0), 1000
    if request.body["enableAutoScaling"]:
        lowest, highest = max(lowest, request.body["minCount"]), min(highest, request.body["maxCount"])
    count = request.body["count"]
    if lowest <= count <= highest:
        return None
    text = (
        f"agentPoolProfile.count was {count}. It must be greater or equal to minCount:{lowest} and less than or equal to "
        f"maxCount:{highest}."
    )
    if request.system and count == 0:
        text += " If allowedMinCount was expected to be 0 but is 1: .. 3) The node is a system pool."
    return aks("InvalidParameter", text, "agentPoolProfile.count")


@rules.as_read
def stale_count(request: PoolRequest) -> AzureRefused | None:
    """An outdated count, which would remove nodes that the autoscaler added, or add nodes.

    UNCONFIRMED: AKS may accept such a count. Refused here because a program that sends one is wrong in either case.
    """
    current = request.current
    if current is None or not (current["enableAutoScaling"] and request.body["enableAutoScaling"]):
        return None
    live, requested = current["count"], request.body["count"]
    # Where new bounds exclude the live count, the nearest bound is the right count.
    if requested == min(max(live, request.body["minCount"]), request.body["maxCount"]):
        return None
    text = f"agentPoolProfile.count was {requested}. The pool is autoscaled and has {live} nodes."
    return aks("InvalidParameter", text, "agentPoolProfile.count")


@rules.as_read
def max_pods(request: PoolRequest) -> AzureRefused | None:
    # AKS page concepts-network-ip-address-planning; code: list.
    pods = request.body["maxPods"]
    if _FEWEST_PODS_A_NODE <= pods <= _MOST_PODS_A_NODE:
        return None
    code = "InsufficientMaxPods" if pods < _FEWEST_PODS_A_NODE else "MaxPodsLimitExceeded"
    text = f"maxPods {pods} must be between {_FEWEST_PODS_A_NODE} and {_MOST_PODS_A_NODE}."
    return aks(code, text, "agentPoolProfile.maxPods")


@rules.as_read
def pods_of_a_pool(request: PoolRequest) -> AzureRefused | None:
    # The same page: a new pool must have room for 30 pods, for example three nodes of ten; code: list. UNCONFIRMED: the number
    # of nodes of a pool that scales from zero; one here. In a system pool each node needs the room (page use-system-pools).
    if request.current is not None and not request.system:
        return None
    nodes = 1 if request.system else max(1, request.body["count"])
    if request.body["maxPods"] * nodes >= _FEWEST_PODS_A_POOL:
        return None
    text = f"{nodes} nodes of maxPods {request.body['maxPods']} have no room for {_FEWEST_PODS_A_POOL} pods."
    return aks("InsufficientAgentPoolMaxPodsPerAgentPool", text, "agentPoolProfile.maxPods")
