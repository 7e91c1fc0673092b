"""Growth: the groups that could take the pods that are left, and the reasons why the others cannot.

Similar groups share new nodes (`balanceSimilarNodeGroups`) by the rules of cluster-autoscaler 1.36.1: processors/nodegroupset
(compare_nodegroups.go, azure_nodegroups.go, balancing_processor.go), and the recording balance-similar-zones-on-different-tiers:
groups of other tiers of the priority expander take their share as well.

Simplified: the cloud's descriptions of the groups' machines are compared, and no existing nodes with their free resources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from sandbox.autoscaler import packing, resources
from sandbox.autoscaler.expander import Option
from sandbox.autoscaler.fitting import Fitting
from sandbox.autoscaler.rooms import Room
from sandbox.autoscaler.shapes import PodInfo, Shape
from sandbox.cloud.node_groups import NodeGroup

MAX_REACHED = "at its most"

# Labels in which similar pools may differ: a node's place, its pool and its image.
_IGNORED = {
    "kubernetes.io/hostname",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "beta.kubernetes.io/fluentd-ds-ready",
    "kops.k8s.io/instancegroup",
    "agentpool",
    "kubernetes.azure.com/agentpool",
    "topology.disk.csi.azure.com/zone",
    "aksEngineVersion",
    "creationSource",
    "poolName",
    "resourceNameSuffix",
    "kubernetes.azure.com/consolidated-additional-properties",
    "kubernetes.azure.com/node-image-version",
}
_MEMORY, _ALLOCATABLE = Decimal("0.015"), Decimal("0.05")
"""The shares of the larger by which two machines may differ in memory, and in anything allocatable."""


@dataclass(frozen=True)
class Size:
    """A group by name, its number of nodes and its maximum."""

    group: str
    now: int
    most: int


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
        return shares(sorted(self.sharing[option.group], key=lambda size: size.now), option.nodes)


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
        if similar(own, group, limits.ignored)
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
    return Option(group.name, group.pool, nodes, taken, packing.waste(rooms, template.full))


def similar(first: NodeGroup, second: NodeGroup, ignored: frozenset[str] = frozenset()) -> bool:
    """Return whether two groups have machines of one size and the same labels, but for those that do not count and `ignored`."""
    return (
        _labels(first, ignored) == _labels(second, ignored)
        and _close(_resources(first, "capacity"), _resources(second, "capacity"), {"memory": _MEMORY}, Decimal(0))
        and _close(_resources(first, "allocatable"), _resources(second, "allocatable"), {}, _ALLOCATABLE)
    )


def shares(sizes: Sequence[Size], nodes: int) -> dict[str, int]:
    """Return the number of new nodes by group: each goes to the smallest group below its maximum."""
    now = {size.group: size.now for size in sizes}
    for _ in range(nodes):
        growing = [size.group for size in sizes if now[size.group] < size.most]
        if not growing:
            break
        now[min(growing, key=lambda group: now[group])] += 1
    return {size.group: now[size.group] - size.now for size in sizes if now[size.group] > size.now}


def _labels(group: NodeGroup, ignored: frozenset[str]) -> dict[str, Any]:
    labels = group.template["metadata"]["labels"]
    return {key: value for key, value in labels.items() if key not in _IGNORED and key not in ignored}


def _resources(group: NodeGroup, field: str) -> resources.Resources:
    return resources.amounts(group.template["status"].get(field))


def _close(
    first: resources.Resources, second: resources.Resources, differences: Mapping[str, Decimal], usual: Decimal
) -> bool:
    return first.keys() == second.keys() and all(
        abs(amount - second[name]) <= max(amount, second[name]) * differences.get(name, usual)
        for name, amount in first.items()
    )
