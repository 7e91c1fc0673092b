"""Fitting: pods of one shape among the pods of all nodes, by the rules between pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sandbox.autoscaler.fit import misfit
from sandbox.autoscaler.neighbours import NONE, Spread
from sandbox.autoscaler.rooms import Room
from sandbox.autoscaler.shapes import Shape

SPREAD = "its spread constraint does not allow more pods there"


class Fitting:
    """The places of one shape. `scene` are the rooms of all nodes: pods count where no further one can be placed, too."""

    def __init__(self, shape: Shape, scene: Iterable[Room]) -> None:
        bonds = shape.bonds
        self._shape = shape
        self._rules = bonds.rules if bonds else NONE
        self._matched = bonds.matched if bonds else frozenset()
        self._barred: set[tuple[str, str]] = set()
        """Domains in which no pod of this shape may be, by key and value."""
        self._beside: Counter[tuple[str, str]] = Counter()
        """Pods that it must be beside, by domain."""
        self._spreads = [_Domains(spread, shape) for spread in self._rules.spread]
        for room in scene:
            self.add(room)

    def add(self, room: Room) -> None:
        """Add a further node."""
        labels, tally, rules = room.labels, room.tally, self._rules
        for spread in self._spreads:
            spread.add(room, self._rules.spread)
        if tally is None:
            return
        for (term, key), count in tally.holding.items():
            if count > 0 and term in self._matched and key in labels:
                self._barred.add((key, labels[key]))
        for term, key in rules.apart:
            if tally.matched.get(term, 0) > 0 and key in labels:
                self._barred.add((key, labels[key]))
        if rules.beside and (count := tally.matched.get(rules.beside, 0)):
            for key in rules.keys:
                if key in labels:
                    self._beside[key, labels[key]] += count

    def barred(self, room: Room) -> bool:
        """Return whether a pod keeps this shape from a node; no further pod of the shape changes that."""
        return any(room.labels.get(key) == value for key, value in self._barred) if self._barred else False

    def refusal(self, room: Room) -> str:
        """Return the reason why a pod may not run on a node; empty when it may."""
        if any(not spread.takes(room) for spread in self._spreads):
            return SPREAD
        if self.barred(room):
            return "a pod there must be on another node, by pod anti-affinity"
        return "" if self._near(room) else "no pod runs there that it must run beside, by pod affinity"

    def placed(self, room: Room) -> None:
        """Note that a pod of the shape was placed on a node."""
        labels, rules = room.labels, self._rules
        for term, key in rules.apart:
            if term in self._matched and key in labels:
                self._barred.add((key, labels[key]))
        if rules.beside in self._matched:
            for key in rules.keys:
                if key in labels:
                    self._beside[key, labels[key]] += 1
        for spread in self._spreads:
            spread.placed(room)

    def _near(self, room: Room) -> bool:
        rules = self._rules
        if rules.beside is None:
            return True
        if any(key not in room.labels for key in rules.keys):
            return False
        if all(self._beside[key, room.labels[key]] > 0 for key in rules.keys):
            return True
        # The first pod of a group that wants to be together may be anywhere.
        return not any(self._beside.values()) and rules.beside in self._matched


class _Domains:
    """The pods that a spread constraint counts, by domain."""

    def __init__(self, spread: Spread, shape: Shape) -> None:
        self._spread, self._shape = spread, shape
        self._own = int(shape.bonds is not None and spread.term in shape.bonds.matched)
        self._counts: dict[str, int] = {}
        self._rooms: set[str] = set()
        self._least: int | None = None

    def add(self, room: Room, all_spreads: Iterable[Spread]) -> None:
        spec, value = self._shape.spec, room.labels.get(self._spread.key)
        if value is None or any(spread.key not in room.labels for spread in all_spreads):
            return
        if self._spread.affinity and misfit(spec, room.name, room.labels, ()):
            return
        if self._spread.taints and misfit({"tolerations": spec.get("tolerations")}, room.name, {}, room.taints):
            return
        count = room.tally.matched.get(self._spread.term, 0) if room.tally else 0
        self._counts[value] = self._counts.get(value, 0) + count
        self._rooms.add(room.name)
        self._least = None

    def takes(self, room: Room) -> bool:
        value = room.labels.get(self._spread.key)
        if value is None:
            return False
        if self._least is None:
            few = len(self._counts) < self._spread.domains
            self._least = 0 if few else min(self._counts.values(), default=0)
        return self._counts.get(value, 0) + self._own - self._least <= self._spread.most

    def placed(self, room: Room) -> None:
        if self._own and room.name in self._rooms:
            self._counts[room.labels[self._spread.key]] += 1
            self._least = None
