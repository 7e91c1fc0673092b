"""Templates: the nodes that groups would add, as far as pods see them.

Rules of cluster-autoscaler 1.36.1, processors/nodeinfosprovider/mixed_nodeinfos_processor.go, simulator/node_info_utils.go.
"""

from __future__ import annotations

from sandbox.autoscaler import shapes
from sandbox.autoscaler.autoscaler_options import due
from sandbox.autoscaler.fit import daemon_fits
from sandbox.autoscaler.rooms import HOSTNAME, Room, open_to_pods
from sandbox.autoscaler.shapes import Object, Shape
from sandbox.autoscaler.snapshot import STARTUP_TAINTS, TO_BE_DELETED, Node, Snapshot
from sandbox.cloud.node_groups import NodeGroup

# Taints of one node's state, which its group's new nodes do not have (utils/taints/taints.go, SanitizeTaints).
_PASSING = {
    *(
        f"node.kubernetes.io/{state}"
        for state in (
            "not-ready",
            "unreachable",
            "unschedulable",
            "memory-pressure",
            "disk-pressure",
            "network-unavailable",
            "pid-pressure",
        )
    ),
    "node.cloudprovider.kubernetes.io/uninitialized",
    "node.cloudprovider.kubernetes.io/shutdown",
    "cloud.google.com/impending-node-termination",
    "NodeWithImpairedVolumes",
    TO_BE_DELETED,
    "DeletionCandidateOfClusterAutoscaler",
}
_PASSING_PREFIXES = (*STARTUP_TAINTS, "status-taint.cluster-autoscaler.kubernetes.io/")


class Templates:
    """The nodes that groups would add: like one of a group's nodes that was ready for a while, else as the cloud describes them.

    A node stays its group's model after it is gone. The requests of DaemonSets are not free: of those that run on the model, else
    of those that would run on the new node.
    """

    def __init__(self, stable: float) -> None:
        self._stable = stable
        self._models: dict[str, tuple[Object, list[Shape]]] = {}

    def of(self, snapshot: Snapshot) -> dict[str, Room]:
        """Return the new node of each group, by the group's name."""
        self._models = {name: model for name, model in self._models.items() if name in snapshot.groups}
        return {name: self._template(group, snapshot) for name, group in snapshot.groups.items()}

    def _template(self, group: NodeGroup, snapshot: Snapshot) -> Room:
        for name in group.nodes:
            node = snapshot.nodes.get(name)
            if node is not None and self._good(node, snapshot.now):
                staying = [pod.shape for pod in node.pods if pod.of_node and pod.terminating is None]
                self._models[group.name] = (node.body, staying)
                break
        model, taken = self._models.get(group.name, (group.template, None))
        taints = [taint for taint in model["spec"].get("taints") or () if not _passes(taint["key"])]
        name = f"{group.name}-new"
        labels = {**model["metadata"]["labels"], HOSTNAME: name}
        room = Room(name, labels, taints, shapes.amounts(model["status"].get("allocatable") or {}))
        if taken is None:
            taken = [shape for shape in snapshot.daemons if daemon_fits(shape.spec, name, labels, taints)]
        for shape in taken:
            room.take(shape)
        room.full = dict(room.free)
        return room

    def _good(self, node: Node, now: float) -> bool:
        """Return whether a node can be a model."""
        going = any(taint["key"] == TO_BE_DELETED for taint in node.taints)
        return node.ready and open_to_pods(node) and not going and due(node.ready_since + self._stable, now)


def _passes(taint: str) -> bool:
    """Return whether a taint of this key is of one node's state."""
    return taint in _PASSING or taint.startswith(_PASSING_PREFIXES)
