"""Moves: places for the pods of nodes that would be removed, one node after the other.

Rules of cluster-autoscaler 1.36.1, simulator/cluster.go (findPlaceFor): a node whose pods have places is gone for the next ones,
and pods that moved to a node move with its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from sandbox.autoscaler import packing
from sandbox.autoscaler.rooms import Room
from sandbox.autoscaler.shapes import PodInfo, Shape


class Moves:
    """Places on `rooms`, which only shrink: each shape's search goes on where its last one ended.

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
        for shape, pods in packing.batches(moving):
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
            found = packing.fill(shape, missing, rooms, self._scene.values())
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
