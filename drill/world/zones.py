"""Zones of a drill's pools and nodes."""

from typing import Any

from sandbox.cloud.emulated_cloud import EmulatedCloud
from sandbox.cloud.node_groups import NodeGroup

Object = dict[str, Any]

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"


def zones_of(cloud: EmulatedCloud, group: NodeGroup) -> list[str]:
    """The zones of a pool, as its nodes have them."""
    body = cloud.get(group.pool_id) or {}
    region = group.template["metadata"]["labels"].get(REGION, "")
    zones = [f"{region}-{zone}" for zone in body.get("availabilityZones") or []]
    return list(body.get("nodeLocations") or zones or [zone_of(group.template)])


def zone_of(node: Object) -> str:
    """The zone of a node."""
    return str(node["metadata"]["labels"].get(ZONE, ""))


def spread(nodes: int, zones: int) -> list[int]:
    """So many nodes over zones, as evenly as they go."""
    each, rest = divmod(nodes, zones)
    return [each + (number < rest) for number in range(zones)]


def rezoned(node: Object, zone: str) -> Object:
    """A node in another zone."""
    before = node["metadata"]["labels"].get(ZONE)
    if before == zone:
        return node
    labels = {
        key: zone if value == before and "zone" in key else value
        for key, value in node["metadata"]["labels"].items()
    }
    return {**node, "metadata": {**node["metadata"], "labels": labels}}
