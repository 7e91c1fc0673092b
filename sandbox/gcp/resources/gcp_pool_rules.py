"""Rules of GKE on a node pool, in order: one function a rule, each with its source.

`SENT` are rules on the body that was sent, before defaults are added; `RESULT` on the resulting body.
"""

import re

from sandbox.cloud import rules
from sandbox.gcp import gcp_ids
from sandbox.gcp.gcp_catalogue import zones_of_region as zones_of
from sandbox.gcp.gcp_errors import GcpRefused, bad_request
from sandbox.gcp.resources import flex_rules, gcp_identity, gcp_machine_rules, gpu_rules
from sandbox.gcp.resources.gcp_network import ranges
from sandbox.gcp.resources.gcp_requests import PoolRequest, PoolRule

# https://cloud.google.com/kubernetes-engine/quotas: nodes of a pool in a zone.
_MOST_NODES = 1000
# https://cloud.google.com/kubernetes-engine/docs/concepts/node-pool-upgrade-strategies
_MOST_AT_ONCE = 20
# https://cloud.google.com/kubernetes-engine/docs/how-to/flexible-pod-cidr
_PODS = (8, 256)


def both_limits_zero(request: PoolRequest) -> GcpRefused | None:
    # terraform-google-modules PR 1554
    bounds = request.body.get("autoscaling")
    if bounds and not bounds.get("maxNodeCount") and not bounds.get("totalMaxNodeCount"):
        return bad_request(
            "Node_pool_autoscaling.max_node_count and node_pool_autoscaling.total_max_node_count cannot be both set to zero."
        )
    return None


@rules.as_read
def two_kinds_of_limits(request: PoolRequest) -> GcpRefused | None:
    # SDK docstrings: they are mutually exclusive; the words are UNCONFIRMED.
    bounds = request.body.get("autoscaling") or {}
    zonal = bounds.get("minNodeCount") or bounds.get("maxNodeCount")
    if zonal and (bounds.get("totalMinNodeCount") or bounds.get("totalMaxNodeCount")):
        return bad_request(
            "Node_pool_autoscaling.max_node_count and node_pool_autoscaling.total_max_node_count cannot be both set."
        )
    return None


@rules.as_read
def least_above_most(request: PoolRequest) -> GcpRefused | None:
    # Words UNCONFIRMED
    bounds = request.body.get("autoscaling") or {}
    for least, most in (("minNodeCount", "maxNodeCount"), ("totalMinNodeCount", "totalMaxNodeCount")):
        if bounds.get(least, 0) > bounds.get(most, 0):
            names = ("min_node_count", "max_node_count") if least == "minNodeCount" else _TOTALS
            return bad_request(
                f"Node_pool_autoscaling.{names[0]} must be less than or equal to node_pool_autoscaling.{names[1]}."
            )
    return None


_TOTALS = ("total_min_node_count", "total_max_node_count")


@rules.as_read
def too_many_nodes(request: PoolRequest) -> GcpRefused | None:
    # Words UNCONFIRMED
    bounds = request.body.get("autoscaling") or {}
    zones = len(request.zones)
    most = max(bounds.get("maxNodeCount", 0), bounds.get("totalMaxNodeCount", 0) / zones)
    if max(most, request.body.get("initialNodeCount", 0)) > _MOST_NODES:
        return bad_request(f"Node pool {request.name} can have at most {_MOST_NODES} nodes in a zone.")
    return None


@rules.as_read
def locations(request: PoolRequest) -> GcpRefused | None:
    # Page regional-clusters: zones of the cluster's region; the words are UNCONFIRMED.
    region = gcp_ids.region(request.cluster["location"])
    for zone in request.zones:
        if zone not in zones_of(region):
            return bad_request(
                f'Invalid value for field "node_pool.locations": zone "{zone}" is not in region "{region}".'
            )
    return None


@rules.as_read
def pods_per_node(request: PoolRequest) -> GcpRefused | None:
    # Words UNCONFIRMED
    least, most = _PODS
    if not least <= request.body["maxPodsPerNode"] <= most:
        return bad_request(f"Max_pods_per_node must be between {least} and {most}.")
    return None


def pod_range(request: PoolRequest) -> GcpRefused | None:
    # fabianlee #2 (2024). A pool that names no range uses the cluster's.
    subnet = request.resources.get(request.cluster["subnetwork"])
    name = (request.wanted.get("networkConfig") or {}).get("podRange")
    if name and name not in (ranges(subnet.body) if subnet else {}):
        return bad_request(
            f'Pod secondary range "{name}" not found in network "{gcp_ids.last(request.cluster["network"])}", '
            f'subnetwork "{gcp_ids.last(request.cluster["subnetwork"])}".'
        )
    return None


def private_nodes(request: PoolRequest) -> GcpRefused | None:
    # terraform-google-kubernetes-engine #1493, cloud-foundation-fabric #1807
    range = (request.cluster.get("privateClusterConfig") or {}).get("masterIpv4CidrBlock")
    if range and not request.body["networkConfig"]["enablePrivateNodes"]:
        return bad_request("EnablePrivateNodes must be enabled for private clusters with valid masterIpv4Cidr.")
    return None


@rules.as_read
def surge(request: PoolRequest) -> GcpRefused | None:
    # Words UNCONFIRMED
    settings = request.body["upgradeSettings"]
    at_once = settings.get("maxSurge", 0) + settings.get("maxUnavailable", 0)
    if settings["strategy"] == "SURGE" and not 0 < at_once <= _MOST_AT_ONCE:
        return bad_request(f"The sum of max_surge and max_unavailable must be between 1 and {_MOST_AT_ONCE}.")
    return None


def management(request: PoolRequest) -> GcpRefused | None:
    # Page release-channels: in a channel, nodes are upgraded and repaired automatically. Words: terraform-provider-google #5985.
    channel = request.cluster["releaseChannel"]["channel"]
    if channel != "UNSPECIFIED":
        for field, title in (("autoUpgrade", "Auto_upgrade"), ("autoRepair", "Auto_repair")):
            # Page dws-flex-start-training turns repairs off; skypilot-org/skypilot, docs/source/reference/kubernetes/examples,
            # does so in a cluster of the channel RAPID.
            if not request.body["management"].get(field) and not (
                field == "autoRepair" and request.config.get("flexStart")
            ):
                return bad_request(f"{title} must be true when release_channel {channel} is set.")
    return None


_NAME = r"(?:[a-z](?:[-a-z0-9]{0,38}[a-z0-9])?)"


def name(request: PoolRequest) -> GcpRefused | None:
    # pulumi-gcp #1510
    if re.fullmatch(_NAME, request.name):
        return None
    return bad_request(
        f'Invalid value for field "node_pool.name": "{request.name}". Must be a match of regex \'{_NAME}\' (only alphanumerics '
        "and hyphens allowed, starting with a letter, ending with an alphanumeric, and no longer than 40 characters)."
    )


SENT: tuple[PoolRule, ...] = (name, gcp_machine_rules.version_served)

RESULT: tuple[PoolRule, ...] = (
    *(locations, both_limits_zero, two_kinds_of_limits, least_above_most, too_many_nodes, pods_per_node),
    *(pod_range, private_nodes, surge, management),
    # A missing GPU is refused before the machine types that have it built in.
    *(gpu_rules.in_zone, gcp_machine_rules.machine_type, gpu_rules.one_model, gpu_rules.attachable),
    *(gpu_rules.count, gpu_rules.declared, gpu_rules.sharing, gpu_rules.partition, gpu_rules.driver),
    *(gcp_machine_rules.spot_and_preemptible, flex_rules.bought_once, flex_rules.without_reservations),
    *(flex_rules.autoscaled, flex_rules.reservation, flex_rules.block_of_a_project),
    *(flex_rules.room_in_reservation, flex_rules.spot_reserved, gcp_machine_rules.provisioning),
    *(flex_rules.sold_so, flex_rules.flex_version, flex_rules.run_duration, gcp_machine_rules.too_old),
    *(gcp_machine_rules.boot_disk, gcp_machine_rules.boot_disk_key, gcp_identity.boot_disk_key),
    *(gcp_machine_rules.image, gcp_machine_rules.shutdown_grace, gcp_machine_rules.service_account),
    *(gcp_machine_rules.scopes, gcp_machine_rules.workload_metadata, gcp_machine_rules.version),
    *(gcp_machine_rules.resource_labels, gcp_machine_rules.labels, gcp_machine_rules.taints),
    gcp_machine_rules.local_ssds,
)
