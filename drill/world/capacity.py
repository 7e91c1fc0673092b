"""Spot capacity over time: how many nodes of a machine the cloud can give in a zone."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from drill.world.record import Pool, Step
from sandbox.base.errors import SandboxError

ALL = "*"
"""Stands for every machine, or every zone: each of them then has the step's number of nodes for itself."""

REGION = ""
"""The place of nodes whose pool names no zones, where the steps name none either."""

_SHOWN = 20
"""Problems listed in one error."""


class Capacity:
    """The capacity that steps describe.

    Of the steps that match a machine and a zone the last one holds; of steps at the same second the later in the list.
    Before the first there is no bound.
    """

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        self._steps = sorted(steps, key=lambda step: step.at)
        self._found: dict[tuple[str, str], tuple[list[float], list[int | None]]] = {}
        self._zones: dict[str, tuple[str, ...]] = {}

    def changes(self) -> list[Step]:
        """All steps, by time."""
        return list(self._steps)

    def at(self, machine: str, zone: str, now: float) -> int | None:
        """Nodes of a machine that the cloud can give in a zone at this second; None without a bound."""
        times, nodes = self._of(machine, zone)
        place = bisect_right(times, now)
        return nodes[place - 1] if place else None

    def total(self, machine: str, zones: Iterable[str], now: float) -> int | None:
        """Nodes of a machine in several zones together; None where one of them has no bound.

        Without zones the cloud chooses: then it is the zones that steps name for the machine.
        """
        found = [
            self.at(machine, zone, now) for zone in tuple(zones) or self.zones(machine) or (REGION,)
        ]
        return None if None in found else sum(nodes for nodes in found if nodes is not None)

    def zones(self, machine: str) -> tuple[str, ...]:
        """The zones that steps name for a machine, in the order of their names."""
        if machine not in self._zones:
            named = {step.zone for step in self._steps if step.machine in (machine, ALL)} - {
                ALL,
                REGION,
            }
            self._zones[machine] = tuple(sorted(named))
        return self._zones[machine]

    def _of(self, machine: str, zone: str) -> tuple[list[float], list[int | None]]:
        if (machine, zone) not in self._found:
            matching = [
                step
                for step in self._steps
                if step.machine in (machine, ALL) and step.zone in (zone, ALL)
            ]
            self._found[machine, zone] = (
                [step.at for step in matching],
                [step.nodes for step in matching],
            )
        return self._found[machine, zone]


def checked(
    steps: Sequence[Step], pools: Iterable[Pool], *, path: str = "capacity", now: float = 0.0
) -> Capacity:
    """The capacity of these steps, for a stack with these pools, at second `now` of its drill.

    Raises SandboxError with every problem and its place, such as `capacity[2].nodes`.
    """
    spot = [pool for pool in pools if pool.capacity == "spot"]
    if not spot:
        raise SandboxError(
            f"{path}: the stack has no spot pool; add `capacity: spot` to a pool, or take a stack that has one"
        )
    problems = [
        problem
        for place, step in enumerate(steps)
        for problem in _problems(step, spot, f"{path}[{place}]", now)
    ]
    if problems:
        more = [f"and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise SandboxError(
            "\n  ".join(
                [f"{count} in the capacity; the stack is as it was:", *problems[:_SHOWN], *more]
            )
        )
    return Capacity(steps)


def _problems(step: Step, spot: Sequence[Pool], path: str, now: float) -> Iterator[str]:
    at: object = step.at
    if (
        isinstance(at, bool)
        or not isinstance(at, int | float)
        or (isinstance(at, float) and not math.isfinite(at))
    ):
        yield f"{path}.at is {_shown(at)}: write seconds from the drill's begin"
    elif at < now:
        yield f"{path}.at is {_shown(at)}, which is in the past: write {now:g} or more"
    nodes: object = step.nodes
    if nodes is not None and (isinstance(nodes, bool) or not isinstance(nodes, int)):
        yield f"{path}.nodes is {_shown(nodes)}: write a whole number of nodes, or null for no bound"
    elif nodes is not None and nodes < 0:
        yield f"{path}.nodes is {_shown(nodes)}: write 0 for none, or null for no bound"
    machines = sorted({pool.machine for pool in spot})
    if step.machine not in (ALL, *machines):
        yield f"{path}.machine is {_shown(step.machine)}, which no spot pool has: write {_or(machines)}, or {ALL} for all"
        return
    having = [pool for pool in spot if step.machine in (ALL, pool.machine)]
    zones = sorted({zone for pool in having for zone in pool.zones})
    # Where a pool names no zones the cloud chooses them, so that each may be meant.
    if step.zone not in (ALL, *zones) and all(pool.zones for pool in having):
        yield f"{path}.zone is {_shown(step.zone)}, in which no pool takes {step.machine}: write {_or(zones)}, or {ALL} for all"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _or(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
