"""Packing: waiting pods on nodes that exist or boot, and on nodes that a group would add; pods of nodes that would be removed.

Equal pods are packed together, so that the work grows with the kinds of pods and not with their number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from random import Random

from sandbox.autoscaler.fitting import SPREAD, Fitting
from sandbox.autoscaler.rooms import HOSTNAME, Room
from sandbox.autoscaler.shapes import Amounts, PodInfo, Shape


def batches(pods: Iterable[PodInfo]) -> list[tuple[Shape, list[PodInfo]]]:
    """Return pods by shape: higher priorities first, then larger ones.

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


def fill(shape: Shape, missing: int, rooms: Iterable[Room], scene: Iterable[Room]) -> list[tuple[Room, int]]:
    """Place so many pods of a shape, the first room first; the rooms that took some, and how many.

    `scene` are the rooms of all nodes; only pods with bonds need them.
    """
    placed: list[tuple[Room, int]] = []
    if shape.bonds is None or not shape.bonds.single:
        fitting = Fitting(shape, scene) if shape.bonds is not None else None
        for room in rooms:
            if not missing:
                break
            if (count := min(missing, room.takes(shape))) and (fitting is None or not fitting.refusal(room)):
                room.take(shape, count)
                placed.append((room, count))
                missing -= count
        return placed
    if missing:
        fitting = Fitting(shape, scene)
        _one_by_one(shape, missing, rooms, fitting, placed)
    return placed


def _one_by_one(
    shape: Shape, missing: int, rooms: Iterable[Room], fitting: Fitting, placed: list[tuple[Room, int]]
) -> int:
    """Place pods each of which may change where the next may go; how many are left."""
    able = [room for room in rooms if not fitting.barred(room) and room.takes(shape)]
    while missing and (room := next((room for room in able if not fitting.refusal(room)), None)) is not None:
        room.take(shape)
        fitting.placed(room)
        placed.append((room, 1))
        missing -= 1
        if fitting.barred(room) or not room.takes(shape):
            able.remove(room)
    return missing


def place(
    pods: Iterable[PodInfo], rooms: Sequence[Room], random: Random, scene: Sequence[Room] = ()
) -> tuple[set[str], list[PodInfo]]:
    """Return the nodes that take pods, and the pods that are left.

    Of equal pods the real program leaves any, in the order of a Go map; so which of them are left is drawn.
    """
    used: set[str] = set()
    left: list[PodInfo] = []
    for shape, equal in batches(pods):
        missing = len(equal)
        for room, count in fill(shape, missing, rooms, scene):
            used.add(room.name)
            missing -= count
        left += random.sample(equal, missing) if 0 < missing < len(equal) else equal[:missing]
    return used, left


def estimate(
    pods: Iterable[PodInfo], template: Room, most: int, scene: Sequence[Room] = ()
) -> tuple[int, list[PodInfo], list[Room]]:
    """Return the number of new nodes, the pods they take, and the new nodes' rooms. Largest pods first, first node
    with enough left.
    """
    full = template.free

    def share(batch: tuple[Shape, list[PodInfo]]) -> float:
        requests = batch[0].requests
        return sum(requests.get(name, 0) / full[name] for name in ("cpu", "memory") if full.get(name, 0) > 0)

    new = _New(template, most, scene)
    taken: list[PodInfo] = []
    for shape, equal in sorted(batches(pods), key=share, reverse=True):
        missing = len(equal)
        for _, count in fill(shape, missing, new.rooms, [*scene, *new.rooms] if shape.bonds else ()):
            missing -= count
        if shape.bonds is not None and shape.bonds.single:
            missing = new.grow_for_each(shape, missing)
        elif missing and (each := template.takes(shape)):
            missing = new.grow(shape, missing, each)
        taken += equal[: len(equal) - missing]
    return len(new.used), taken, new.used


class _New:
    """The new nodes of an estimate (estimator/binpacking_estimator.go)."""

    def __init__(self, template: Room, most: int, scene: Sequence[Room]) -> None:
        self._template, self._most, self._scene = template, most, scene
        self.rooms: list[Room] = []

    @property
    def used(self) -> list[Room]:
        """The nodes with pods; the others do not count."""
        return [room for room in self.rooms if room.free != self._template.free]

    def grow(self, shape: Shape, missing: int, each: int) -> int:
        """Add nodes of which each takes so many; how many pods are left."""
        if shape.bonds is not None and Fitting(shape, [*self._scene, *self.rooms, self._template]).refusal(
            self._template
        ):
            return missing
        while missing and len(self.rooms) < self._most:
            count = min(missing, each)
            self._add().take(shape, count)
            missing -= count
        return missing

    def grow_for_each(self, shape: Shape, missing: int) -> int:
        """Add nodes for pods each of which may change where the next may go; how many are left.

        Only the last node is tried. A pod that a spread over hosts keeps from it may go to any other, existing ones too. A new node
        that does not take a pod is the end.
        """
        fitting = Fitting(shape, [*self._scene, *self.rooms])
        over_hosts = any(spread.key == HOSTNAME for spread in shape.bonds.rules.spread) if shape.bonds else False
        elsewhere: list[tuple[Room, int]] = []
        while missing:
            last = self.rooms[-1] if self.rooms else None
            reason = fitting.refusal(last) if last is not None and last.takes(shape) else "full"
            others = [*self._scene, *self.rooms[:-1]]
            if (
                last is not None
                and reason == SPREAD
                and over_hosts
                and not _one_by_one(shape, 1, others, fitting, elsewhere)
            ):
                missing -= 1
                continue
            if last is None or reason:
                if (last is not None and last.free == self._template.free) or len(self.rooms) >= self._most:
                    break
                last = self._add()
                fitting.add(last)
                if not last.takes(shape) or fitting.refusal(last):
                    break
            last.take(shape)
            fitting.placed(last)
            missing -= 1
        for room, count in elsewhere:
            if room not in self.rooms:
                room.take(shape, -count)
        return missing

    def _add(self) -> Room:
        room = self._template.another(f"{self._template.name}-{len(self.rooms)}")
        self.rooms.append(room)
        return room


def waste(rooms: Sequence[Room], full: Amounts) -> float:
    """Return the sum of the shares of CPU and memory that stay free on new nodes."""
    totals = {name: full[name] * len(rooms) for name in ("cpu", "memory") if full.get(name, 0) > 0}
    return sum(sum(room.free.get(name, 0) for room in rooms) / total for name, total in totals.items() if total)


class Moves:
    """Places for the pods of nodes that would be removed, one node after the other (simulator/cluster.go, findPlaceFor).

    A node whose pods have places is gone for the next ones, and pods that moved to a node move with its own.

    The places are on `rooms`, which only shrink: each shape's search goes on where its last one ended.

    Nodes in `gone` take no pods; those that join it later are no part of `scene` any more, the rooms of all nodes.
    """

    def __init__(self, rooms: Mapping[str, Room], scene: Sequence[Room], gone: Set[str]) -> None:
        self._rooms, self._gone = list(rooms.values()), gone
        self._scene = {room.name: room for room in scene}
        self._start: dict[int, int] = {}
        self._arrived: dict[str, list[PodInfo]] = defaultdict(list)

    def arrived(self, node: str) -> Sequence[PodInfo]:
        """Return the pods that moved to a node."""
        return self._arrived.get(node, ())

    def move(self, node: str, moving: Sequence[PodInfo]) -> bool:
        """Return whether all pods of a node fit on others; then they are placed there, and the node is gone."""
        before, own = dict(self._start), self._scene.get(node)
        if own is not None:
            # While its pods look for places it is tainted and empty, and still a domain.
            self._scene[node] = replace(own, free={}, tally=None)
        placed: list[tuple[Room, Shape, int]] = []
        arrivals: list[tuple[str, list[PodInfo]]] = []
        for shape, pods in batches(moving):
            first = len(placed)
            if not self._place(node, shape, len(pods), placed):
                for room, each, count in placed:
                    room.take(each, -count)
                self._start = before
                if own is not None:
                    self._scene[node] = own
                return False
            number = 0
            for room, _, count in placed[first:]:
                arrivals.append((room.name, pods[number : number + count]))
                number += count
        for name, pods in arrivals:
            self._arrived[name] += pods
        self._scene.pop(node, None)
        return True

    def _place(self, own: str, shape: Shape, missing: int, placed: list[tuple[Room, Shape, int]]) -> bool:
        if shape.bonds is not None:
            rooms = (room for room in self._rooms if room.name != own and room.name not in self._gone)
            found = fill(shape, missing, rooms, self._scene.values())
            placed += [(room, shape, count) for room, count in found]
            return sum(count for _, count in found) == missing
        passed = True
        for number in range(self._start.get(id(shape), 0), len(self._rooms)):
            room = self._rooms[number]
            if room.name == own:
                passed = False  # it stays where this move fails
            elif room.name not in self._gone and (count := min(missing, room.takes(shape))):
                room.take(shape, count)
                placed.append((room, shape, count))
                missing -= count
            if passed:
                self._start[id(shape)] = number
            if not missing:
                return True
        return False
