"""Facts of node groups and their nodes: spot or on demand, machine, zones."""

from drill.world import record, scenario
from sandbox.cloud.emulated_cloud import EmulatedCloud
from sandbox.cloud.node_groups import NodeGroup
from sandbox.kubernetes.client import Object

CAPACITY = "kubeflow-spot.dev/capacity"
MACHINE = "node.kubernetes.io/instance-type"
ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"


def label_of(group: NodeGroup, key: str) -> str:
    """Return a label of a pool's nodes; empty if they lack it."""
    return str(group.template["metadata"]["labels"].get(key, ""))


def is_spot(group: NodeGroup) -> bool:
    """Return whether a pool is of spot machines."""
    return label_of(group, CAPACITY) == "spot"


def machine_of(group: NodeGroup) -> str:
    """Return the machine type of a pool."""
    return label_of(group, MACHINE)


def applies(place: scenario.Place, group: NodeGroup) -> bool:
    """Return whether a fault concerns a pool."""
    kind = "spot" if is_spot(group) else "on-demand"
    return place.pool in ("*", group.pool) and place.capacity in ("*", kind)


def node_name(node: record.Node) -> str:
    """Return the name of a machine's node in the cluster, without the `#2` of a recreated one."""
    return node.name.partition("#")[0]


def zones_of(cloud: EmulatedCloud, group: NodeGroup) -> list[str]:
    """Return the zones of a pool, as its nodes name them."""
    body = cloud.get(group.pool_id) or {}
    zones = [f"{label_of(group, REGION)}-{zone}" for zone in body.get("availabilityZones") or []]
    return list(body.get("nodeLocations") or zones or [zone_of(group.template)])


def zone_of(node: Object) -> str:
    """Return the zone of a node."""
    return str(node["metadata"]["labels"].get(ZONE, ""))


def rezoned(node: Object, zone: str) -> Object:
    """Return a node in another zone."""
    before = node["metadata"]["labels"].get(ZONE)
    if before == zone:
        return node
    labels = {
        key: zone if value == before and "zone" in key else value
        for key, value in node["metadata"]["labels"].items()
    }
    return {**node, "metadata": {**node["metadata"], "labels": labels}}


def spread(nodes: int, zones: int) -> list[int]:
    """Spread nodes over zones as evenly as possible."""
    each, rest = divmod(nodes, zones)
    return [each + (number < rest) for number in range(zones)]
