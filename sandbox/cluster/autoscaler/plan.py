"""The plan of one scan: the pods that no node takes, and the pools that could grow for them."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from sandbox.cloud.node_groups import NodeGroup
from sandbox.cluster.autoscaler import balance, node_capacity, resources
from sandbox.cluster.autoscaler.balance import Size
from sandbox.cluster.autoscaler.expander import Option
from sandbox.cluster.autoscaler.node_capacity import NodeCapacity, Object, Pod
from sandbox.cluster.autoscaler.resources import NONE, Resources

# Pods below never trigger a scale-up (--expendable-pods-priority-cutoff; recording priority-class-below-cutoff).
_CUTOFF = -10


@dataclass(frozen=True)
class Picture:
    """Everything that a scan looks at."""

    groups: Sequence[NodeGroup]
    nodes: Sequence[Object]
    pods: Sequence[Object]
    daemon_sets: Sequence[Object] = ()
    backed_off: Set[str] = frozenset()
    """Groups, by name, that are left alone for now."""
    barred: Mapping[str, str] = field(default_factory=dict)
    """Why a group never grows, by the group's name."""
    hopeless: Callable[[Pod], str] = lambda pod: ""
    """Why no group helps a pod; empty where one may."""
    late: Set[str] = frozenset()
    """Nodes that do not count."""
    balanced: bool = False
    """Whether similar groups share new nodes."""


@dataclass(frozen=True)
class Plan:
    """The result of a scan."""

    needed: Set[str] = frozenset()
    """Nodes that will take a waiting pod."""
    options: Sequence[Option] = ()
    hopeless: Mapping[str, str] = field(default_factory=dict)
    """Why no pool helps, by the name of every other pod."""
    sharing: Mapping[str, Sequence[Size]] = field(default_factory=dict)
    """The groups that share an option's nodes, by the name of the option's group, which is one of them."""

    def shares(self, option: Option) -> dict[str, int]:
        """The number of new nodes by group, once an option is chosen."""
        return balance.shares(self.sharing[option.group], option.nodes)


def plan(picture: Picture) -> Plan:
    """Assign waiting pods to existing and upcoming nodes; find pools for the rest."""
    waiting = [_pod(pod) for pod in sorted(picture.pods, key=_queue_order) if unschedulable(pod)]
    if not waiting:
        return Plan()
    templates = {
        group.name: node_capacity.template(group, picture.nodes, picture.daemon_sets) for group in picture.groups
    }
    existing = node_capacity.known(picture.nodes, picture.pods, picture.groups, templates, picture.late)
    needed, left = _assign(waiting, existing)
    hopeless = {pod.name: reason for pod in left if (reason := picture.hopeless(pod))}
    left = [pod for pod in left if pod.name not in hopeless]
    growing: dict[str, tuple[NodeGroup, list[Pod]]] = {}
    refusals = {pod.name: dict[str, str]() for pod in left}
    for group in picture.groups:
        if group.most is None:
            continue
        fitting = []
        for pod in left:
            if refusal := templates[group.name].refusal(pod):
                refusals[pod.name][group.pool] = refusal
            else:
                fitting.append(pod)
        if reason := _stopped(group, group.most, picture):
            for pod in fitting:
                refusals[pod.name][group.pool] = reason
        elif fitting:
            growing[group.name] = (group, fitting)
    sharing = {name: _sharing(name, growing, picture) for name in growing}
    options = [
        _option(group, pods, templates[name], sum(size.most - size.now for size in sharing[name]))
        for name, (group, pods) in growing.items()
    ]
    helped = {pod.name for _, pods in growing.values() for pod in pods}
    for pod_name, reasons in refusals.items():
        if pod_name not in helped:
            hopeless[pod_name] = "; ".join(f"{pool}: {reason}" for pool, reason in reasons.items())
    return Plan(needed, options, hopeless, sharing)


def unschedulable(pod: Object) -> bool:
    """Whether the scheduler found no node for a pod, and the autoscaler cares.

    It ignores DaemonSets' pods, whose nodes exist, and pods for which the scheduler preempts others.
    """
    status, spec = pod.get("status") or {}, pod["spec"]
    if spec.get("nodeName") or status.get("nominatedNodeName") or pod["metadata"].get("deletionTimestamp"):
        return False
    if node_capacity.of_node(pod) or spec.get("priority", 0) < _CUTOFF:
        return False
    return any(
        condition["type"] == "PodScheduled"
        and condition["status"] == "False"
        and condition.get("reason") == "Unschedulable"
        for condition in status.get("conditions") or []
    )


def estimate(pods: Iterable[Pod], template: NodeCapacity, most: int) -> tuple[int, list[Pod], Resources]:
    """The number of new nodes, the pods they take, and the resources that stay free.

    Largest pods first, each on the first node with enough left.
    """
    full = template.free

    def share(pod: Pod) -> Any:
        return sum(pod.requests.get(name, NONE) / full[name] for name in ("cpu", "memory") if full.get(name))

    nodes: list[NodeCapacity] = []
    taken = []
    for pod in sorted(pods, key=share, reverse=True):
        target = next((node for node in nodes if not node.refusal(pod)), None)
        if target is None and len(nodes) < most and not template.refusal(pod):
            target = template.another(len(nodes))
            nodes.append(target)
        if target is not None:
            target.take(pod)
            taken.append(pod)
    return len(nodes), taken, resources.total(node.free for node in nodes)


def _stopped(group: NodeGroup, most: int, picture: Picture) -> str:
    """The reason why a group cannot grow now; empty when it can."""
    if group.name in picture.barred:
        return picture.barred[group.name]
    if group.name in picture.backed_off:
        return "left alone because it could not grow"
    return f"at its most, {most} nodes" if len(group.nodes) >= most else ""


def _sharing(name: str, growing: Mapping[str, tuple[NodeGroup, list[Pod]]], picture: Picture) -> list[Size]:
    """A group, and the similar groups that can grow now and take all its pods."""
    own, pods = growing[name]
    others = [
        group
        for group, fitting in growing.values()
        if picture.balanced and group is not own and {p.name for p in pods} <= {p.name for p in fitting}
        if balance.similar(own, group)
    ]
    return [Size(group.name, len(group.nodes), group.most or 0) for group in (own, *others)]


def _option(group: NodeGroup, pods: Sequence[Pod], template: NodeCapacity, most: int) -> Option:
    nodes, taken, free = estimate(pods, template, most)
    full = template.free
    waste = sum((free[name] / (nodes * full[name]) for name in ("cpu", "memory") if full.get(name)), start=NONE)
    return Option(group.name, group.pool, group.pool_id, len(group.nodes), nodes, taken, waste)


def _assign(pods: Iterable[Pod], nodes: Sequence[NodeCapacity]) -> tuple[set[str], list[Pod]]:
    """The nodes that take a pod, and the pods that are left."""
    used, left = set(), []
    for pod in pods:
        target = next((node for node in nodes if not node.refusal(pod)), None)
        if target is None:
            left.append(pod)
        else:
            target.take(pod)
            used.add(target.name)
    return used, left


def _pod(pod: Object) -> Pod:
    name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    return Pod(name, pod["spec"], resources.requests(pod["spec"]))


def _queue_order(pod: Object) -> tuple[int, str, str]:
    """The scheduler's order: by priority, then age."""
    metadata = pod["metadata"]
    return (-pod["spec"].get("priority", 0), metadata.get("creationTimestamp", ""), metadata["name"])
