"""What one scan finds: which pods wait in vain, and which pool should grow for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from sandbox.cloud.node_groups import NodeGroup
from sandbox.cluster.autoscaler import balance, resources, rooms
from sandbox.cluster.autoscaler.balance import Size
from sandbox.cluster.autoscaler.expander import Option
from sandbox.cluster.autoscaler.resources import NONE, Resources
from sandbox.cluster.autoscaler.rooms import Object, Pod, Room

# Pods below never trigger a scale-up (--expendable-pods-priority-cutoff; recording priority-class-below-cutoff).
_CUTOFF = -10


@dataclass(frozen=True)
class Picture:
    """Everything that a scan looks at. `backed_off` are names of groups that are left alone for now, `barred` says by name why
    others never grow, and `lost` why no group helps a pod, empty where one may. Nobody counts on nodes that are `late`. With
    `balanced` groups that are alike share new nodes."""

    groups: Sequence[NodeGroup]
    nodes: Sequence[Object]
    pods: Sequence[Object]
    daemon_sets: Sequence[Object] = ()
    backed_off: Set[str] = frozenset()
    barred: Mapping[str, str] = field(default_factory=dict)
    lost: Callable[[Pod], str] = lambda pod: ""
    late: Set[str] = frozenset()
    balanced: bool = False


@dataclass(frozen=True)
class Plan:
    """`needed` are nodes on which a waiting pod will find room; `hopeless` says of every other pod why no pool helps.

    `sharing` are the groups among which an option's nodes are shared, by the name of its group, which is one of them.
    """

    needed: Set[str] = frozenset()
    options: Sequence[Option] = ()
    hopeless: Mapping[str, str] = field(default_factory=dict)
    sharing: Mapping[str, Sequence[Size]] = field(default_factory=dict)

    def shares(self, option: Option) -> dict[str, int]:
        """How many nodes each group gets, by name, once an option is chosen."""
        return balance.shares(self.sharing[option.group], option.nodes)


def plan(picture: Picture) -> Plan:
    """Pods first get what is free on nodes that are there or coming; pools are asked for the rest."""
    waiting = [_pod(pod) for pod in sorted(picture.pods, key=_order) if unschedulable(pod)]
    if not waiting:
        return Plan()
    new = {group.name: rooms.template(group, picture.nodes, picture.daemon_sets) for group in picture.groups}
    there = rooms.known(picture.nodes, picture.pods, picture.groups, new, picture.late)
    needed, left = _put(waiting, there)
    lost = {pod.name: why for pod in left if (why := picture.lost(pod))}
    left = [pod for pod in left if pod.name not in lost]
    growing: dict[str, tuple[NodeGroup, list[Pod]]] = {}
    refusals = {pod.name: dict[str, str]() for pod in left}
    for group in picture.groups:
        if group.most is None:
            continue
        takes = []
        for pod in left:
            if refusal := new[group.name].refusal(pod):
                refusals[pod.name][group.pool] = refusal
            else:
                takes.append(pod)
        if group.name in picture.barred:
            why = picture.barred[group.name]
        elif group.name in picture.backed_off:
            why = "left alone because it could not grow"
        elif len(group.nodes) >= group.most:
            why = f"at its most, {group.most} nodes"
        else:
            why = ""
            if takes:
                growing[group.name] = (group, takes)
        refusals |= {pod.name: refusals[pod.name] | {group.pool: why} for pod in takes if why}
    sharing = {name: _sharing(name, growing, picture) for name in growing}
    options = [
        _option(group, takes, new[name], sum(size.most - size.now for size in sharing[name]))
        for name, (group, takes) in growing.items()
    ]
    helped = {pod.name for _, takes in growing.values() for pod in takes}
    hopeless = {
        pod: "; ".join(f"{pool}: {why}" for pool, why in found.items())
        for pod, found in refusals.items()
        if pod not in helped
    }
    return Plan(needed, options, lost | hopeless, sharing)


def unschedulable(pod: Object) -> bool:
    """Whether the scheduler found no node for a pod, and the autoscaler cares.

    DaemonSets' pods belong to nodes that are there, and a pod for which others are being preempted has one.
    """
    status, spec = pod.get("status") or {}, pod["spec"]
    if spec.get("nodeName") or status.get("nominatedNodeName") or pod["metadata"].get("deletionTimestamp"):
        return False
    if rooms.of_node(pod) or spec.get("priority", 0) < _CUTOFF:
        return False
    return any(
        one["type"] == "PodScheduled" and one["status"] == "False" and one.get("reason") == "Unschedulable"
        for one in status.get("conditions") or []
    )


def estimate(pods: Iterable[Pod], new: Room, most: int) -> tuple[int, list[Pod], Resources]:
    """How many such nodes take which pods, and what stays free; largest pods first, each on the first node that has room."""
    full = new.free

    def share(pod: Pod) -> Any:
        return sum(pod.needs.get(name, NONE) / full[name] for name in ("cpu", "memory") if full.get(name))

    nodes: list[Room] = []
    taken = []
    for pod in sorted(pods, key=share, reverse=True):
        place = next((node for node in nodes if not node.refusal(pod)), None)
        if place is None and len(nodes) < most and not new.refusal(pod):
            place = new.another(len(nodes))
            nodes.append(place)
        if place is not None:
            place.take(pod)
            taken.append(pod)
    return len(nodes), taken, resources.total(node.free for node in nodes)


def _sharing(name: str, growing: Mapping[str, tuple[NodeGroup, list[Pod]]], picture: Picture) -> list[Size]:
    """A group, and those alike that can grow now and take all its pods."""
    own, takes = growing[name]
    others = [
        group
        for group, taken in growing.values()
        if picture.balanced and group is not own and {p.name for p in takes} <= {p.name for p in taken}
        if balance.alike(own, group)
    ]
    return [Size(group.name, len(group.nodes), group.most or 0) for group in (own, *others)]


def _option(group: NodeGroup, pods: Sequence[Pod], new: Room, most: int) -> Option:
    nodes, taken, free = estimate(pods, new, most)
    waste = sum((free[name] / (nodes * new.free[name]) for name in ("cpu", "memory") if new.free.get(name)), start=NONE)
    return Option(group.name, group.pool, group.pool_id, len(group.nodes), nodes, taken, waste)


def _put(pods: Iterable[Pod], there: Sequence[Room]) -> tuple[set[str], list[Pod]]:
    used, left = set(), []
    for pod in pods:
        place = next((room for room in there if not room.refusal(pod)), None)
        if place is None:
            left.append(pod)
        else:
            place.take(pod)
            used.add(place.name)
    return used, left


def _pod(pod: Object) -> Pod:
    name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    return Pod(name, pod["spec"], resources.requests(pod["spec"]))


def _order(pod: Object) -> tuple[int, str, str]:
    """As the scheduler's queue: by priority, then age."""
    metadata = pod["metadata"]
    return (-pod["spec"].get("priority", 0), metadata.get("creationTimestamp", ""), metadata["name"])
