"""Growth: the groups that could take the pods that are left, and the reasons why the others cannot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sandbox.autoscaler import balance, packing
from sandbox.autoscaler.balance import Size
from sandbox.autoscaler.expander import Option
from sandbox.autoscaler.fitting import Fitting
from sandbox.autoscaler.rooms import Room
from sandbox.autoscaler.shapes import PodInfo, Shape
from sandbox.cloud.node_groups import NodeGroup

MAX_REACHED = "at its most"


@dataclass(frozen=True)
class Limits:
    """The groups and pods that are left out."""

    stopped: Mapping[str, str] = field(default_factory=dict)
    """Why a group cannot grow now, by its name."""
    hopeless: Callable[[Shape], str] = lambda shape: ""
    """Why no group helps a pod; empty where one may."""
    balanced: bool = False
    """Whether similar groups share new nodes."""
    ignored: frozenset[str] = frozenset()
    """Further labels in which similar groups may differ."""


@dataclass(frozen=True)
class Growth:
    """The result of a search."""

    options: Sequence[Option] = ()
    hopeless: Sequence[tuple[str, Sequence[PodInfo]]] = ()
    """Pods that no group helps, by the reason."""
    sharing: Mapping[str, Sequence[Size]] = field(default_factory=dict)
    """The groups that share an option's nodes, by the name of the option's group, which is one of them."""

    def shares(self, option: Option) -> dict[str, int]:
        """Return the number of new nodes by group, the smallest group first."""
        return balance.shares(sorted(self.sharing[option.group], key=lambda size: size.now), option.nodes)


def growth(
    groups: Sequence[NodeGroup],
    templates: Mapping[str, Room],
    left: Sequence[PodInfo],
    limits: Limits,
    scene: Sequence[Room] = (),
) -> Growth:
    """Return the groups that could take pods that no node takes. `templates` are the groups' new nodes, `scene` all
    nodes' rooms.
    """
    hopeless: list[tuple[str, Sequence[PodInfo]]] = []
    waiting = []
    for shape, pods in packing.batches(left):
        if reason := limits.hopeless(shape):
            hopeless.append((reason, pods))
        else:
            waiting.append((shape, pods))
    growing: dict[str, tuple[NodeGroup, list[int]]] = {}
    refusals: list[dict[str, str]] = [{} for _ in waiting]
    for group in groups:
        if group.most is None:
            continue
        fitting = []
        stopped = limits.stopped.get(group.name) or _full(group, group.most)
        for number, (shape, _) in enumerate(waiting):
            if refusal := _refusal(shape, templates[group.name], scene):
                refusals[number][group.pool] = refusal
            elif stopped:
                refusals[number][group.pool] = stopped
            else:
                fitting.append(number)
        if fitting:
            growing[group.name] = (group, fitting)
    sharing = {name: _sharing(name, growing, limits) for name in growing}
    options = []
    for name, (group, fitting) in growing.items():
        most = sum(size.most - size.now for size in sharing[name])
        candidates = [pod for number in fitting for pod in waiting[number][1]]
        options.append(_option(group, candidates, templates[name], most, scene))
    helped = {number for _, fitting in growing.values() for number in fitting}
    for number, reasons in enumerate(refusals):
        if number not in helped:
            text = "; ".join(f"{pool}: {reason}" for pool, reason in reasons.items())
            hopeless.append((text, waiting[number][1]))
    return Growth(options, hopeless, sharing)


def _full(group: NodeGroup, most: int) -> str:
    return f"{MAX_REACHED}, {most} nodes" if len(group.nodes) >= most else ""


def _sharing(name: str, growing: Mapping[str, tuple[NodeGroup, list[int]]], limits: Limits) -> list[Size]:
    """Return a group, and the similar groups that can grow now and take all its pods."""
    own, pods = growing[name]
    others = [
        group
        for group, fitting in growing.values()
        if limits.balanced and group is not own and set(pods) <= set(fitting)
        if balance.similar(own, group, limits.ignored)
    ]
    return [Size(group.name, len(group.nodes), group.most or 0) for group in (own, *others)]


def _refusal(shape: Shape, template: Room, scene: Sequence[Room]) -> str:
    """Return the reason why a pod may not run on a new node; empty when it may."""
    refusal = template.refusal(shape)
    if refusal or shape.bonds is None:
        return refusal
    return Fitting(shape, [*scene, template]).refusal(template)


def _option(group: NodeGroup, pods: Sequence[PodInfo], template: Room, most: int, scene: Sequence[Room]) -> Option:
    nodes, taken, rooms = packing.estimate(pods, template, most, scene)
    return Option(
        group.name, group.pool, group.pool_id, len(group.nodes), nodes, taken, packing.waste(rooms, template.full)
    )
