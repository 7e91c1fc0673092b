"""Rules of AKS on the nodes of a pool: their number, upgrades, labels and taints, and spot.

Upgrades of regular pools: page upgrade-aks-node-pools-rolling, texts UNCONFIRMED.
"""

import re

from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources.azure_requests import SPOT_LABEL, PoolRequest, invalid
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
    """Return an outdated count, which would remove nodes that the autoscaler added, or add nodes.

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


_NODES = re.compile(r"[0-9]{1,4}|[0-9]{1,3}%")
_NONE = ("0", "0%")
_MINUTES = {"drainTimeoutInMinutes": range(5, 1441), "nodeSoakDurationInMinutes": range(31)}


@rules.as_read
def nodes_at_once(request: PoolRequest) -> AzureRefused | None:
    # A number of nodes or a percentage of the pool.
    settings = request.wanted.get("upgradeSettings", {})
    for field in ("maxSurge", "maxUnavailable"):
        text = settings.get(field, "0")
        if not _NODES.fullmatch(text) or (text.endswith("%") and int(text[:-1]) > 100):
            return invalid(f"agentPoolProfile.upgradeSettings.{field}")
    return None


@rules.as_read
def minutes(request: PoolRequest) -> AzureRefused | None:
    settings = request.wanted.get("upgradeSettings", {})
    for field, allowed in _MINUTES.items():
        if settings.get(field, allowed[0]) not in allowed:
            return invalid(f"agentPoolProfile.upgradeSettings.{field}", f"It must be {allowed[0]} to {allowed[-1]}")
    return None


@rules.as_read
def system_unavailable(request: PoolRequest) -> AzureRefused | None:
    unavailable = request.body.get("upgradeSettings", {}).get("maxUnavailable", "0")
    if not request.system or unavailable in _NONE:
        return None
    return invalid("agentPoolProfile.upgradeSettings.maxUnavailable", "System pools can't set maxUnavailable")


@rules.as_read
def surge(request: PoolRequest) -> AzureRefused | None:
    # Both above 0 is a preview feature, which needs the preview API.
    if request.spot:
        return None
    settings = request.body["upgradeSettings"]
    surging, unavailable = (settings[field] not in _NONE for field in ("maxSurge", "maxUnavailable"))
    if surging != unavailable:
        return None
    text = "maxSurge and maxUnavailable cannot both be " + ("set." if surging else "0.")
    return aks("InvalidParameter", text, "agentPoolProfile.upgradeSettings.maxSurge")


def spot_upgrade(request: PoolRequest) -> AzureRefused | None:
    # azurerm PR 31129; the parameter path as in a live response of 2026-09-12.
    if not request.spot:
        return None
    settings = request.wanted.get("upgradeSettings", {})
    for field, words in (("maxSurge", "max surge"), ("maxUnavailable", "maxUnavailable")):
        if field in settings:
            return invalid(f"agentPoolProfile.upgradeSettings.{field}", f"Spot pools can't set {words}")
    # A live spot pool had `Schedule` sent and shown. Of `Cordon`, which replaces nodes by surge nodes (REST 2025-09-01,
    # UndrainableNodeBehavior), no source says that a pool without them takes it: refused as the stricter reading.
    if settings.get("undrainableNodeBehavior", "Schedule") != "Schedule":
        return invalid(
            "agentPoolProfile.upgradeSettings.undrainableNodeBehavior", "Spot pools can't cordon undrainable nodes"
        ).as_read()
    # Azure/bicep-types-az #2217: without `type` the same error came though no surge was set. Seen in a preflight only; for a
    # PUT it is UNCONFIRMED, and refused here as the stricter reading.
    if request.current is None and "type" not in request.wanted:
        return invalid("agentPoolProfile.upgradeSettings.maxSurge", "Spot pools can't set max surge").as_read()
    return None


@rules.as_read
def spot_mode(request: PoolRequest) -> AzureRefused | None:
    # AKS pages spot-node-pool and use-system-pools; code: list. For the first pool the code is UNCONFIRMED.
    if not request.spot or not (request.system or request.first):
        return None
    code = "SystemPoolMustBeRegular" if request.system else "InvalidParameter"
    text = f"Spot node pool '{request.name}' must be in User mode and cannot be the first pool of a cluster."
    return aks(code, text, "agentPoolProfile.scaleSetPriority")


@rules.as_read
def spot_settings(request: PoolRequest) -> AzureRefused | None:
    # AKS page spot-node-pool; texts UNCONFIRMED. For a regular pool only Delete and -1 are accepted (recording).
    price = request.wanted.get("spotMaxPrice", -1)
    if not request.spot:
        if request.wanted.get("scaleSetEvictionPolicy", "Delete") != "Delete" or price != -1:
            text = "scaleSetEvictionPolicy and spotMaxPrice can only be set when scaleSetPriority is Spot."
            return aks("InvalidParameter", text, f"{request.section}.scaleSetPriority")
        return None
    if price != -1 and (price <= 0 or round(price, 5) != price):
        text = "spotMaxPrice must be -1 or a positive number with up to five decimals."
        return aks("InvalidParameter", text, f"{request.section}.spotMaxPrice")
    if request.body["type"] != "VirtualMachineScaleSets":
        return aks("InvalidParameter", "Spot node pools must use VirtualMachineScaleSets.", f"{request.section}.type")
    if request.machine and request.machine.spot == "no":
        return aks("InvalidParameter", f"The VM size {request.machine.size} does not support Spot priority.", "vmSize")
    return None


_TAINT = re.compile(
    r"^(?:[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?"
    r"=[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?:(NoSchedule|PreferNoSchedule|NoExecute)$",
    re.ASCII,
)
_LABEL_KEY = re.compile(r"^(?:[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$", re.ASCII)
_LABEL_VALUE = re.compile(r"^([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?$", re.ASCII)


def labels(request: PoolRequest) -> AzureRefused | None:
    for key, value in request.wanted.get("nodeLabels", {}).items():
        prefix = key.rsplit("/", 1)[0] if "/" in key else ""
        if request.spot and (key, value) == SPOT_LABEL:
            continue
        if prefix == "kubernetes.azure.com" or prefix.endswith(".kubernetes.azure.com"):
            # ams0/aks-nvme-ssd-provisioner #5. Only the label and value that AKS sets itself may be repeated.
            text = f"Invalid node label key {key}. The 'kubernetes.azure.com' prefix is preserved by aks system labels"
            return aks("BadRequest", text)
        if _in_namespace(prefix, "kubernetes.io", "k8s.io") and not _in_namespace(
            prefix, "kubelet.kubernetes.io", "node.kubernetes.io"
        ):
            text = (
                "For Kubernetes version greater than or equal to 1.16, node label keys in the 'kubernetes.io' or 'k8s.io' "
                "namespace must begin with an allowed prefix (kubelet.kubernetes.io, node.kubernetes.io). "
                f"({key}={value})"
            )
            return aks("BadRequest", text)  # azurerm #18567
        if key == "agentpool" or not _LABEL_KEY.fullmatch(key) or not _LABEL_VALUE.fullmatch(value):
            # azurerm #28636; text UNCONFIRMED
            return aks(
                "InvalidParameter", f"Invalid node label {key}={value}.", "agentPoolProfile.nodeLabels"
            ).as_read()
    return None


def _in_namespace(prefix: str, *namespaces: str) -> bool:
    return any(prefix == n or prefix.endswith("." + n) for n in namespaces)


@rules.as_read
def taints(request: PoolRequest) -> AzureRefused | None:
    # azurerm PR 32269 ("invalid taint spec"); the rest of the text is UNCONFIRMED. kubectl's `key:Effect` without a value is
    # refused as well, because the AKS page shows only key=value:Effect.
    for taint in request.wanted.get("nodeTaints", []):
        if not _TAINT.fullmatch(taint):
            text = f"invalid taint spec: {taint}. Please see https://aka.ms/node-taints for more details."
            return aks("InvalidParameter", text, "agentPoolProfile.nodeTaints")
    return None
