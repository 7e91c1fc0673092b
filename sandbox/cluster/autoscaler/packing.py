"""Packing: waiting pods on nodes that exist or boot, and on nodes that a group would add.

Equal pods are packed together, so that the work grows with the kinds of pods and not with their number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from sandbox.cluster.autoscaler.fit import misfit, reports_ready
from sandbox.cluster.autoscaler.shapes import Amounts, PodInfo, Shape
from sandbox.cluster.autoscaler.snapshot import Node

Object = Mapping[str, Any]

HOSTNAME = "kubernetes.io/hostname"


@dataclass
class Room:
    """What a node, existing or not, has left for pods; `free` shrinks as pods are placed."""

    name: str
    labels: Mapping[str, str]
    taints: Sequence[Object]
    free: Amounts
    full: Amounts = field(default_factory=dict)
    """What it has free while it is new."""

    def refusal(self, shape: Shape) -> str:
        """The reason why a pod does not fit; empty when it fits."""
        if reason := misfit(shape.spec, self.name, self.labels, self.taints):
            return reason
        lacking = shape.lacking(self.free)
        return f"too little {lacking}" if lacking else ""

    def takes(self, shape: Shape) -> int:
        """How many pods of a shape fit."""
        count = shape.times(self.free)
        return count if count and not misfit(shape.spec, self.name, self.labels, self.taints) else 0

    def take(self, shape: Shape, count: int = 1) -> None:
        """Place pods of a shape."""
        free = self.free
        for name, asked in shape.requests.items():
            free[name] = free.get(name, 0) - asked * count

    def another(self, name: str) -> Room:
        """A further node like this one, with an account of its own."""
        return replace(self, name=name, labels={**self.labels, HOSTNAME: name}, free=dict(self.free))


def batches(pods: Iterable[PodInfo]) -> list[tuple[Shape, list[PodInfo]]]:
    """Pods by shape: higher priorities first, then larger ones.

    Of one priority the real program takes pods in the order of a Go map, and may ask for a node too many; this order asks least.
    """
    found: dict[int, tuple[Shape, list[PodInfo]]] = {}
    for pod in pods:
        batch = found.get(id(pod.shape))
        if batch is None:
            found[id(pod.shape)] = (pod.shape, [pod])
        else:
            batch[1].append(pod)

    def order(batch: tuple[Shape, list[PodInfo]]) -> tuple[int, int, int]:
        requests = batch[0].requests
        return (-batch[0].priority, -requests.get("cpu", 0), -requests.get("memory", 0))

    return sorted(found.values(), key=order)


def place(pods: Iterable[PodInfo], rooms: Sequence[Room], random: Random) -> tuple[set[str], list[PodInfo]]:
    """The nodes that take pods, and the pods that are left.

    Of equal pods the real program leaves any, in the order of a Go map; so which of them are left is drawn.
    """
    used: set[str] = set()
    left: list[PodInfo] = []
    for shape, equal in batches(pods):
        missing = len(equal)
        for room in rooms:
            if not missing:
                break
            if count := min(missing, room.takes(shape)):
                room.take(shape, count)
                used.add(room.name)
                missing -= count
        left += random.sample(equal, missing) if 0 < missing < len(equal) else equal[:missing]
    return used, left


def estimate(pods: Iterable[PodInfo], template: Room, most: int) -> tuple[int, list[PodInfo], list[Room]]:
    """The number of new nodes, the pods they take, and the new nodes' rooms. Largest pods first, first node with enough left."""
    full = template.free

    def share(batch: tuple[Shape, list[PodInfo]]) -> float:
        requests = batch[0].requests
        return sum(requests.get(name, 0) / full[name] for name in ("cpu", "memory") if full.get(name, 0) > 0)

    new: list[Room] = []
    taken: list[PodInfo] = []
    for shape, equal in sorted(batches(pods), key=share, reverse=True):
        missing = len(equal)
        for room in new:
            if not missing:
                break
            if count := min(missing, room.takes(shape)):
                room.take(shape, count)
                missing -= count
        if missing and (each := template.takes(shape)):
            while missing and len(new) < most:
                room = template.another(f"{template.name}-{len(new)}")
                room.take(shape, min(missing, each))
                missing -= min(missing, each)
                new.append(room)
        taken += equal[: len(equal) - missing]
    return len(new), taken, new


def waste(rooms: Sequence[Room], full: Amounts) -> float:
    """The sum of the shares of CPU and memory that stay free on new nodes."""
    totals = {name: full[name] * len(rooms) for name in ("cpu", "memory") if full.get(name, 0) > 0}
    return sum(sum(room.free.get(name, 0) for room in rooms) / total for name, total in totals.items() if total)


def room(node: Node) -> Room:
    """What an existing node has left."""
    used = node.used
    free = {name: has - used.get(name, 0) for name, has in node.allocatable.items()}
    return Room(node.name, node.labels, node.taints, free)


def open_to_pods(node: Node) -> bool:
    """Whether the scheduler may place pods on a node at all."""
    spec, metadata = node.body["spec"], node.body["metadata"]
    if spec.get("unschedulable") or metadata.get("deletionTimestamp"):
        return False
    return reports_ready(node.body)
