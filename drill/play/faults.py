"""The faults of a drill: spot capacity over time, evictions, and what else goes wrong, begun and ended by the drill's clock."""

from collections.abc import Callable, Mapping, Sequence
from random import Random

from drill.play.clock import Clock
from drill.play.machines import Active, Machines
from drill.play.nodes import Nodes
from drill.world import record
from drill.world.scenario import Fault, Place
from drill.world.zones import spread

_WITHIN = 180.0
"""Seconds in which machines go when a drawn or traced capacity falls: in over 92 % of common losses those of one type and zone
go within three minutes ("Spot-and-Scoot", 2026; Azure and AWS)."""

Report = Callable[[record.EventKind, str, str, int], None]


class Faults:
    """The faults of one drill. `restart` restarts the autoscaler, `report` gets what is shown on the timeline; `sizes` are the
    nodes of a machine in a zone of which shares are taken."""

    def __init__(
        self,
        clock: Clock,
        machines: Machines,
        nodes: Nodes,
        random: Random,
        restart: Callable[[], None],
        report: Report,
        sizes: Mapping[tuple[str, str], int] | None = None,
    ) -> None:
        self._clock, self._machines, self._nodes, self._random = clock, machines, nodes, random
        self._restart, self._report, self._sizes = restart, report, sizes or {}
        self.capacity: list[record.Step] = []
        """The spot capacity as it changed."""

    def plan(self, steps: Sequence[record.Step], faults: Sequence[Fault]) -> None:
        """Plan all faults."""
        for step in steps:
            self._clock.at(
                step.at,
                lambda step=step: self._set_capacity(step.machine, step.zone, step.nodes, _WITHIN),
            )  # type: ignore[misc]
        for fault in faults:
            self._clock.at(fault.at, lambda fault=fault: self._begin_fault(fault))  # type: ignore[misc]

    def _begin_fault(self, fault: Fault) -> None:
        if fault.capacity:
            change = fault.capacity
            self._set_capacity(
                change.machine, change.zone, change.nodes, change.within, change.share
            )
            return
        if fault.evict:
            running = [
                n
                for n in self._machines.running("*", fault.evict.zone, fault.evict.pool)
                if n.noticed is None
            ]
            count = (
                len(running) if fault.evict.nodes == "all" else min(len(running), fault.evict.nodes)
            )
            self._evict_all(running[:count], fault.evict.within, notice=fault.evict.notice)
            return
        if fault.restart_autoscaler:
            self._restart()
            self._report("fault", "", "the autoscaler is restarted", 0)
            return
        for kind in (
            "refuse",
            "silent",
            "slow",
            "late_plugin",
            "unready",
            "upgrade",
            "scan_before_cordon",
        ):
            if place := getattr(fault, kind):
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
                # Places that the first side of a comparison lacks are apart: the others give as much as they do there.
                known = (name, place.zone) in self._sizes
                size = self._sizes[name, place.zone] if known else most
                found.setdefault((name, known), []).append((place.zone, size))
        for (name, _), places in found.items():
            # A share is one of what the pools can have in these zones together.
            parts = (
                None
                if share is None
                else spread(sum(most for _, most in places) * share // 100, len(places))
            )
            for number, (each, _) in enumerate(places):
                limit = nodes if parts is None else parts[number]
                self._machines.set_limit(name, each, limit)
                self.capacity.append(record.Step(self._clock.now, name, each, limit))
        self._machines.revive()
        self._evict_all(self._machines.surplus(), within)

    def _evict_all(
        self, nodes: Sequence[record.Node], within: float, *, notice: bool = True
    ) -> None:
        by_pool: dict[str, int] = {}
        for node in nodes:
            by_pool[node.pool] = by_pool.get(node.pool, 0) + 1
            delay = self._random.random() * within
            self._clock.after(delay, lambda node=node: self._nodes.evict(node, notice=notice))  # type: ignore[misc]
        for pool, count in by_pool.items():
            self._report("evicted", pool, f"the cloud takes {count} machines back", count)


def _name(place: Place) -> str:
    return "" if place.pool == "*" else place.pool
