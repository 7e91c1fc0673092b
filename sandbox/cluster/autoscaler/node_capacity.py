"""Node capacity left for pods: on nodes that exist or boot, and on the node that a pool would add."""

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

# The tolerations that the DaemonSet controller adds to each of its pods
# (https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/#taints-and-tolerations).
_DAEMON_TOLERATIONS = [
    {"key": f"node.kubernetes.io/{condition}", "operator": "Exists"}
    for condition in ("not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
]


@dataclass
class NodeCapacity:
    """A node that exists or may be added; `free` shrinks as pods are assigned."""

    name: str
    labels: Mapping[str, str]
    taints: Sequence[Object]
    free: Resources

    def refusal(self, pod: Pod) -> str:
        """The reason why a pod does not fit; empty when it fits."""
        reason = misfit(pod.spec, self.name, self.labels, self.taints)
        lacking = "" if reason else resources.shortage(pod.requests, self.free)
        return f"too little {lacking}" if lacking else reason

    def take(self, pod: Pod) -> None:
        """Assign a pod."""
        self.free = resources.less(self.free, pod.requests)

    def another(self, number: int) -> NodeCapacity:
        """A further node like this one, with an account of its own."""
        return replace(self, name=f"{self.name}-{number}", free=dict(self.free))


@dataclass(frozen=True)
class Pod:
    """A pod that waits for a node."""

    name: str
    """Namespace and name, `default/train`."""
    spec: Object
    requests: Resources


def known(
    nodes: Iterable[Object],
    pods: Iterable[Object],
    groups: Iterable[NodeGroup],
    templates: Mapping[str, NodeCapacity],
    late: Set[str] = frozenset(),
) -> list[NodeCapacity]:
    """The nodes that take pods now or soon: a booting node, unless it is `late`, will be as its group's template.

    A GPU node boots until it reports GPUs: the autoscaler does the same for nodes with the provider's GPU
    label (cluster-autoscaler, utils/gpu).
    """
    group_of = {name: group for group in groups for name in group.nodes}
    by_name = {node["metadata"]["name"]: node for node in nodes}
    pods_on: dict[str, list[Object]] = {}
    for pod in pods:
        if pod["spec"].get("nodeName") and not ended(pod):
            pods_on.setdefault(pod["spec"]["nodeName"], []).append(pod)
    capacities = []
    for name in sorted({*by_name, *group_of}):
        node, group = by_name.get(name), group_of.get(name)
        if node and (node["spec"].get("unschedulable") or node["metadata"].get("deletionTimestamp")):
            continue
        running = pods_on.get(name, [])
        if node and not booting(node, group):
            free = resources.of(node["status"].get("allocatable"))
            labels, taints = node["metadata"].get("labels") or {}, node["spec"].get("taints") or []
            capacity = NodeCapacity(name, labels, taints, free)
        elif group and name not in late:
            template = templates[group.name]
            capacity = replace(template, name=name, labels={**template.labels, _HOSTNAME: name})
            # The template's free resources exclude those of the DaemonSets.
            running = [pod for pod in running if not of_node(pod)]
        else:
            continue
        taken = resources.total(resources.requests(pod["spec"]) for pod in running)
        capacity.free = resources.less(capacity.free, taken)
        capacities.append(capacity)
    return capacities


def booting(node: Object, group: NodeGroup | None) -> bool:
    """Whether a node is not ready, or does not report its GPUs yet."""
    conditions = node["status"].get("conditions") or []
    ready = any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)
    without_gpus = str((node["status"].get("allocatable") or {}).get(GPU, "0")) == "0"
    return not ready or bool(group and group.gpus and without_gpus)


def template(group: NodeGroup, nodes: Iterable[Object], daemon_sets: Iterable[Object]) -> NodeCapacity:
    """The node that a group would add: like its first ready node, else as the cloud describes the machine.

    The requests of DaemonSets that would run on it are not free.
    """
    ready = sorted(
        (node for node in nodes if node["metadata"]["name"] in group.nodes and not booting(node, group)),
        key=lambda node: str(node["metadata"]["name"]),
    )
    model = ready[0] if ready else group.template
    # Taints of that one node's state are not the group's.
    passing = ("node.kubernetes.io/", "ToBeDeleted")
    taints = [taint for taint in model["spec"].get("taints") or [] if not taint["key"].startswith(passing)]
    name = f"{group.name}-new"
    labels = {**model["metadata"]["labels"], _HOSTNAME: name}
    capacity = NodeCapacity(name, labels, taints, resources.of(model["status"]["allocatable"]))
    for daemon_set in daemon_sets:
        spec = daemon_set["spec"]["template"]["spec"]
        tolerating = {**spec, "tolerations": [*(spec.get("tolerations") or []), *_DAEMON_TOLERATIONS]}
        if not misfit(tolerating, name, labels, taints):
            capacity.free = resources.less(capacity.free, resources.requests(spec))
    return capacity


def ended(pod: Object) -> bool:
    """Whether a pod needs its node no longer."""
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")


def of_node(pod: Object) -> bool:
    """Whether a pod belongs to its node: a DaemonSet's, or the mirror of a static pod."""
    metadata = pod["metadata"]
    owned = any(owner["kind"] == "DaemonSet" for owner in metadata.get("ownerReferences") or [])
    return owned or "kubernetes.io/config.mirror" in (metadata.get("annotations") or {})
