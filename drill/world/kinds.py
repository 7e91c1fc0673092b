"""Kinds of a drill's pools and machines: spot or on demand, which machine, and whether a fault is about them."""

from drill.world import record, scenario
from sandbox.cloud.node_groups import NodeGroup

CAPACITY = "kubeflow-spot.dev/capacity"
MACHINE = "node.kubernetes.io/instance-type"


def name_of(node: record.Node) -> str:
    """The name of a machine's node in the cluster. Records of a machine that is made anew may end in `#2`."""
    return node.name.partition("#")[0]


def applies(place: scenario.Place, group: NodeGroup) -> bool:
    """Whether a fault is about a pool."""
    kind = "spot" if spot(group) else "on-demand"
    return bool(place.pool in ("*", group.pool) and place.capacity in ("*", kind))


def spot(group: NodeGroup) -> bool:
    """Whether a pool is of spot machines."""
    return bool(group.template["metadata"]["labels"].get(CAPACITY) == "spot")


def machine_of(group: NodeGroup) -> str:
    return str(group.template["metadata"]["labels"].get(MACHINE, ""))
