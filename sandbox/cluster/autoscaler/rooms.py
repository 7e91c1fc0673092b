"""Where pods can go: nodes with what is free on them, and the node a pool would add."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from sandbox.cloud.node_groups import NodeGroup
from sandbox.cluster.autoscaler import resources
from sandbox.cluster.autoscaler.fit import misfit
from sandbox.cluster.autoscaler.resources import Resources

Object = Mapping[str, Any]

GPU = "nvidia.com/gpu"
_HOSTNAME = "kubernetes.io/hostname"

# What the DaemonSet controller adds to each of its pods
# (https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/#taints-and-tolerations).
_EVERYWHERE = [
    {"key": f"node.kubernetes.io/{what}", "operator": "Exists"}
    for what in ("not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
]


@dataclass
class Room:
    """A node, or one that may come: what is `free` shrinks as pods are put there."""

    name: str
    labels: Mapping[str, str]
    taints: Sequence[Object]
    free: Resources

    def refusal(self, pod: Pod) -> str:
        """Why a pod cannot go there; empty when it can."""
        wrong = misfit(pod.spec, self.name, self.labels, self.taints)
        lacking = "" if wrong else resources.shortage(pod.needs, self.free)
        return f"too little {lacking}" if lacking else wrong

    def take(self, pod: Pod) -> None:
        self.free = resources.less(self.free, pod.needs)

    def another(self, number: int) -> Room:
        """A copy with nothing taken from this one's account later."""
        return replace(self, name=f"{self.name}-{number}", free=dict(self.free))


@dataclass(frozen=True)
class Pod:
    """A pod that waits for a node."""

    name: str
    """With its namespace, `default/train`."""
    spec: Object
    needs: Resources


def known(
    nodes: Iterable[Object],
    pods: Iterable[Object],
    groups: Iterable[NodeGroup],
    new: Mapping[str, Room],
    late: Set[str] = frozenset(),
) -> list[Room]:
    """Every node that takes pods, or will: those that boot have what their pool's `new` node has, if they are not too `late`.

    A GPU node boots until it reports GPUs: the autoscaler does the same for nodes with the provider's GPU
    label (cluster-autoscaler, utils/gpu).
    """
    group_of = {name: group for group in groups for name in group.nodes}
    there = {node["metadata"]["name"]: node for node in nodes}
    on: dict[str, list[Object]] = {}
    for pod in pods:
        if pod["spec"].get("nodeName") and not ended(pod):
            on.setdefault(pod["spec"]["nodeName"], []).append(pod)
    rooms = []
    for name in sorted({*there, *group_of}):
        node, group = there.get(name), group_of.get(name)
        if node and (node["spec"].get("unschedulable") or node["metadata"].get("deletionTimestamp")):
            continue
        if node and not booting(node, group):
            free = resources.of(node["status"].get("allocatable"))
            taken = [resources.requests(pod["spec"]) for pod in on.get(name, [])]
            rooms.append(Room(name, node["metadata"].get("labels") or {}, node["spec"].get("taints") or [], free))
        elif group and name not in late:
            expected = new[group.name]
            # The DaemonSets' share is off already.
            taken = [resources.requests(pod["spec"]) for pod in on.get(name, []) if not of_node(pod)]
            rooms.append(replace(expected, name=name, labels={**expected.labels, _HOSTNAME: name}))
        else:
            continue
        rooms[-1].free = resources.less(rooms[-1].free, resources.total(taken))
    return rooms


def booting(node: Object, group: NodeGroup | None) -> bool:
    """Whether a machine is not yet what its pool promises."""
    conditions = node["status"].get("conditions") or []
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    without = str((node["status"].get("allocatable") or {}).get(GPU, "0")) == "0"
    return not ready or bool(group and group.gpus and without)


def template(group: NodeGroup, nodes: Iterable[Object], daemon_sets: Iterable[Object]) -> Room:
    """The node a pool would add: like one that is there and ready, else what the cloud says of its machine.

    What DaemonSets will ask for on it is not free.
    """
    known = sorted(
        (node for node in nodes if node["metadata"]["name"] in group.nodes and not booting(node, group)),
        key=lambda node: str(node["metadata"]["name"]),
    )
    like = known[0] if known else group.template
    name = f"{group.name}-new"
    room = Room(
        name,
        {**like["metadata"]["labels"], _HOSTNAME: name},
        # Those of a state of the one node are not the pool's.
        [
            t
            for t in like["spec"].get("taints") or []
            if not t["key"].startswith(("node.kubernetes.io/", "ToBeDeleted"))
        ],
        resources.of(like["status"]["allocatable"]),
    )
    for daemon_set in daemon_sets:
        spec = daemon_set["spec"]["template"]["spec"]
        its = {**spec, "tolerations": [*(spec.get("tolerations") or []), *_EVERYWHERE]}
        if not misfit(its, room.name, room.labels, room.taints):
            room.free = resources.less(room.free, resources.requests(spec))
    return room


def ended(pod: Object) -> bool:
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")


def of_node(pod: Object) -> bool:
    """Whether a pod belongs to its node: a DaemonSet's, or a mirror of one that the kubelet was given as a file."""
    metadata = pod["metadata"]
    owned = any(owner["kind"] == "DaemonSet" for owner in metadata.get("ownerReferences") or [])
    return owned or "kubernetes.io/config.mirror" in (metadata.get("annotations") or {})
