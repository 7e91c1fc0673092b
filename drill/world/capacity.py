"""Spot capacity over time: the nodes of a machine that the cloud can give in a zone.

Traces of it have the published shape, `{"metadata": {"gap_seconds": N}, "data": [available
instances, ...]}`, as in github.com/skypilot-org/spot-traces: a file for one machine in one zone, a
number every N seconds.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from drill.world.record import Pool, Step
from sandbox.base.errors import SandboxError

ALL = "*"
"""Every machine, or every zone: each has the step's number of nodes for itself."""
REGION = ""
"""The zone of nodes if neither their pool nor the steps name one."""
_SHOWN = 20
"""The most problems in one error."""

MOST_BYTES = 16 << 20
"""The most bytes of a trace: the largest published file has 0.2 MB."""
MOST_SECONDS = 366 * 24 * 3600
MOST_NODES = 100_000
_SHAPE = '{"metadata": {"gap_seconds": 300}, "data": [4, 4, 0]}'


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
    at: Any = step.at
    if not _is_number(at):
        yield f"{path}.at is {_shown(at)}: write seconds from the drill's begin"
    elif at < now:
        yield f"{path}.at is {_shown(at)}, which is in the past: write {now:g} or more"
    nodes: Any = step.nodes
    if nodes is not None and not _is_whole(nodes):
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
    text = str(value) if isinstance(value, Exception) else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _or(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def read_trace(path: Path, machine: str, zone: str = ALL) -> list[Step]:
    """Read the changes of capacity in a trace, from second 0; the last number lasts.

    The file does not say its machine and zone. Raises SandboxError for a file that cannot be read,
    is too large, or has another shape.
    """
    gap, data = _content(path)
    changed = [place for place, nodes in enumerate(data) if not place or nodes != data[place - 1]]
    return [Step(place * gap, machine, zone, data[place]) for place in changed]


def _content(path: Path) -> tuple[float, list[int]]:
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as missing:
        # A name with a zero byte gives a ValueError.
        why = getattr(missing, "strerror", None) or missing
        raise SandboxError(f"the trace {path} cannot be read: {why}") from None
    if len(raw) > MOST_BYTES:
        raise SandboxError(
            f"the trace {path} is larger than {MOST_BYTES >> 20} MiB;"
            " cut it, or write a larger gap_seconds"
        )
    try:
        content = json.loads(raw.decode("utf-8-sig"), parse_constant=_no_number)
    except (ValueError, RecursionError) as broken:
        raise SandboxError(f"the trace {path} is not JSON: {_shown(broken)}") from None
    if problems := _trace_problems(content):
        head = f"the trace {path} is not of the published shape, {_SHAPE}:"
        raise SandboxError("\n  ".join([head, *problems]))
    return content["metadata"]["gap_seconds"], content["data"]


def _trace_problems(content: Any) -> list[str]:
    if not isinstance(content, dict):
        return ["it is no object"]
    problems = []
    metadata = content.get("metadata")
    gap = metadata.get("gap_seconds") if isinstance(metadata, dict) else None
    if gap is None:
        problems.append("metadata.gap_seconds is missing: write the seconds between two numbers")
    elif not _is_number(gap) or not 1 <= gap <= MOST_SECONDS:
        problems.append(
            f"metadata.gap_seconds is {_shown(gap)}: write seconds from 1 to {MOST_SECONDS}"
        )
    data = content.get("data")
    if not isinstance(data, list) or not data:
        return [*problems, "data is missing or empty: write the numbers of available instances"]
    wrong = [place for place, nodes in enumerate(data) if not _is_count(nodes)]
    problems += [
        f"data[{place}] is {_shown(data[place])}: write a whole number from 0 to {MOST_NODES}"
        for place in wrong[:10]
    ]
    if len(wrong) > 10:
        problems.append(f"and {len(wrong) - 10} more numbers")
    if not problems and gap is not None and gap * len(data) > MOST_SECONDS:
        numbers = f"data has {len(data)} numbers, {gap:g} s apart"
        problems.append(f"{numbers}: a trace lasts at most {MOST_SECONDS} s")
    return problems


def _is_number(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _is_count(value: Any) -> bool:
    return _is_whole(value) and 0 <= value <= MOST_NODES


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")
