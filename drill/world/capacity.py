"""Spot capacity over time: the nodes of a machine that the cloud can give in a zone."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from drill.world.record import Pool, Step
from sandbox.base.errors import SandboxError

ALL = "*"
"""Every machine, or every zone: each has the step's number of nodes for itself."""
REGION = ""
"""The zone of nodes if neither their pool nor the steps name one."""
_SHOWN = 20
"""The most problems in one error."""


class Capacity:
    """The capacity that steps describe: `Capacity(steps).at("T4", "1", 60.0)`.

    The last step that matches a machine and a zone holds; of steps at the same second the later in
    the list. Before the first step there is no bound.
    """

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        self._steps = sorted(steps, key=lambda step: step.at)
        self._found: dict[tuple[str, str], tuple[list[float], list[int | None]]] = {}
        self._zones: dict[str, tuple[str, ...]] = {}

    def changes(self) -> list[Step]:
        """Return all steps, by time."""
        return list(self._steps)

    def at(self, machine: str, zone: str, now: float) -> int | None:
        """Return the nodes that the cloud can give at this second; None without a bound."""
        times, nodes = self._of(machine, zone)
        place = bisect_right(times, now)
        return nodes[place - 1] if place else None

    def total(self, machine: str, zones: Iterable[str], now: float) -> int | None:
        """Return the nodes in several zones together; None if one of them has no bound.

        Without zones the cloud chooses from the zones that steps name for the machine.
        """
        chosen = tuple(zones) or self.zones(machine) or (REGION,)
        found = [self.at(machine, zone, now) for zone in chosen]
        return None if None in found else sum(nodes for nodes in found if nodes is not None)

    def zones(self, machine: str) -> tuple[str, ...]:
        """Return the zones that steps name for a machine, sorted."""
        if machine not in self._zones:
            named = {step.zone for step in self._steps if step.machine in (machine, ALL)}
            self._zones[machine] = tuple(sorted(named - {ALL, REGION}))
        return self._zones[machine]

    def _of(self, machine: str, zone: str) -> tuple[list[float], list[int | None]]:
        if (machine, zone) not in self._found:
            own = [step for step in self._steps if step.machine in (machine, ALL)]
            own = [step for step in own if step.zone in (zone, ALL)]
            self._found[machine, zone] = [step.at for step in own], [step.nodes for step in own]
        return self._found[machine, zone]


def check_capacity(
    steps: Sequence[Step], pools: Iterable[Pool], *, path: str = "capacity", now: float = 0.0
) -> Capacity:
    """Return the capacity of these steps, for a stack with these pools, at second `now`.

    Raises SandboxError with every problem and its place, such as `capacity[2].nodes`.
    """
    spot = [pool for pool in pools if pool.capacity == "spot"]
    if not spot:
        raise SandboxError(
            f"{path}: the stack has no spot pool;"
            " add `capacity: spot` to a pool, or take a stack that has one"
        )
    problems = [
        problem
        for place, step in enumerate(steps)
        for problem in _problems(step, spot, f"{path}[{place}]", now)
    ]
    if problems:
        more = [f"and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        head = f"{count} in the capacity; the stack is as it was:"
        raise SandboxError("\n  ".join([head, *problems[:_SHOWN], *more]))
    return Capacity(steps)


def _problems(step: Step, spot: Sequence[Pool], path: str, now: float) -> Iterator[str]:
    at: object = step.at
    endless = isinstance(at, float) and not math.isfinite(at)
    if endless or isinstance(at, bool) or not isinstance(at, int | float):
        yield f"{path}.at is {_shown(at)}: write seconds from the drill's begin"
    elif at < now:
        yield f"{path}.at is {_shown(at)}, which is in the past: write {now:g} or more"
    nodes: object = step.nodes
    if nodes is not None and (isinstance(nodes, bool) or not isinstance(nodes, int)):
        words = "write a whole number of nodes, or null for no bound"
        yield f"{path}.nodes is {_shown(nodes)}: {words}"
    elif nodes is not None and nodes < 0:
        yield f"{path}.nodes is {_shown(nodes)}: write 0 for none, or null for no bound"
    machines = sorted({pool.machine for pool in spot})
    if step.machine not in (ALL, *machines):
        yield (
            f"{path}.machine is {_shown(step.machine)}, which no spot pool has:"
            f" write {_or(machines)}, or {ALL} for all"
        )
        return
    having = [pool for pool in spot if step.machine in (ALL, pool.machine)]
    zones = sorted({zone for pool in having for zone in pool.zones})
    # A pool without zones may have any: the cloud chooses.
    if step.zone not in (ALL, *zones) and all(pool.zones for pool in having):
        yield (
            f"{path}.zone is {_shown(step.zone)}, in which no pool takes {step.machine}:"
            f" write {_or(zones)}, or {ALL} for all"
        )


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _or(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
