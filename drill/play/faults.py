"""The faults of a drill by its clock: spot capacity over time, evictions, and other failures."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random

from drill.play.clock import Clock
from drill.play.machines import Active, Machines
from drill.play.nodes import Nodes
from drill.world import record
from drill.world.node_groups import spread
from drill.world.scenario import FAULTS, Fault, Place

_WITHIN = 180.0
"""Seconds in which machines are evicted when a drawn or traced capacity falls.

In over 92 % of common losses the machines of one type and zone go within three minutes
("Spot-and-Scoot", 2026; Azure and AWS).
"""

Report = Callable[[record.EventKind, str, str, int], None]


class Faults:
    """The faults of one drill: `faults.plan(steps, scenario.faults)`.

    `restart` restarts the autoscaler, `report` adds to the timeline, `edit` applies or deletes an
    object and names it. `sizes` are the nodes of a
    machine in a zone from which shares are counted.
    """

    def __init__(
        self,
        clock: Clock,
        machines: Machines,
        nodes: Nodes,
        random: Random,
        restart: Callable[[], None],
        report: Report,
        edit: Callable[[Fault], str],
        sizes: Mapping[tuple[str, str], int] | None = None,
    ) -> None:
        self._clock, self._machines, self._nodes, self._random = clock, machines, nodes, random
        self._restart, self._report, self._sizes = restart, report, sizes or {}
        self._edited = edit
        self.capacity: list[record.Step] = []
        """The spot capacity as it changed."""

    def plan(self, steps: Sequence[record.Step], faults: Sequence[Fault]) -> None:
        """Plan all faults."""
        for step in steps:
            change = (step.machine, step.zone, step.nodes, _WITHIN)
            self._clock.at(step.at, partial(self._set_capacity, *change))
        for fault in faults:
            self._clock.at(fault.at, partial(self._begin_fault, fault))

    def _begin_fault(self, fault: Fault) -> None:
        if change := fault.capacity:
            self._set_capacity(
                change.machine, change.zone, change.nodes, change.within, change.share
            )
        elif evict := fault.evict:
            found = self._machines.running("*", evict.zone, evict.pool)
            running = [node for node in found if node.noticed is None]
            count = len(running) if evict.nodes == "all" else evict.nodes
            self._evict_all(running[:count], evict.within, notice=evict.notice)
        elif fault.apply or fault.delete:
            self._report("fault", "", self._edited(fault), 0)
        elif fault.restart_autoscaler:
            self._restart()
            self._report("fault", "", "the autoscaler is restarted", 0)
        else:
            for kind in FAULTS:
                if isinstance(place := getattr(fault, kind), Place):
                    self._report("fault", _name(place), f"begin of {kind.replace('_', ' ')}", 0)
                    self._begin(kind, place, fault.until)

    def _begin(self, kind: str, place: Place, until: float | None) -> None:
        active = Active(kind, place)
        self._machines.active.append(active)
        if until is not None:
            self._clock.at(until, lambda: self._end_fault(active))
        if kind == "unready":
            self._nodes.unready(place, ready=False)
        elif kind == "upgrade":
            self._nodes.upgrade(place)

    def _end_fault(self, active: Active) -> None:
        self._machines.active.remove(active)
        self._report("fault", _name(active.place), f"end of {active.kind.replace('_', ' ')}", 0)
        if active.kind == "unready":
            self._nodes.unready(active.place, ready=True)

    def _set_capacity(
        self, machine: str, zone: str, nodes: int | None, within: float, share: int | None = None
    ) -> None:
        found: dict[tuple[str, bool], list[tuple[str, int]]] = {}
        for name, place, most in self._machines.spot_places():
            if machine in ("*", name) and zone in ("*", place.zone, "first" if place.first else ""):
                # Places that a comparison's first side lacks count apart from the others.
                known = (name, place.zone) in self._sizes
                size = self._sizes[name, place.zone] if known else most
                found.setdefault((name, known), []).append((place.zone, size))
        for (name, _), places in found.items():
            limits = [nodes] * len(places)
            if share is not None:
                # A share is counted from the pools' maximum in these zones together.
                together = sum(most for _, most in places)
                limits = [*spread(together * share // 100, len(places))]
            for (each, _), limit in zip(places, limits, strict=True):
                self._machines.set_limit(name, each, limit)
                self.capacity.append(record.Step(self._clock.now, name, each, limit))
        self._machines.revive()
        self._evict_all(self._machines.surplus(), within)

    def _evict_all(
        self, nodes: Sequence[record.Node], within: float, *, notice: bool = True
    ) -> None:
        for node in nodes:
            delay = self._random.random() * within
            self._clock.after(delay, partial(self._nodes.evict, node, notice=notice))
        for pool, count in Counter(node.pool for node in nodes).items():
            self._report("evicted", pool, f"the cloud takes {count} machines back", count)


def _name(place: Place) -> str:
    return "" if place.pool == "*" else place.pool
