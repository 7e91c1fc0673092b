"""Weeks of spot capacity, drawn by machine and zone as it was measured (`drill/world/measurements.py`; ADR 6).

Each machine in each zone follows one measured row: spells and gaps by its percentiles and its share of time. A whole group
comes and goes at once, apart from short times with a part of it. The zones of a machine get different rows, and change together
about as much as measured zones of one region do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from random import Random

from drill.world.capacity import ALL
from drill.world.measurements import Lengths, Measurement, alike
from drill.world.record import Step

WEEK = 7 * 24 * 3600
"""Seconds."""

_BEFORE = 28 * 24 * 3600
"""Seconds drawn ahead of each week, so that a week begins anywhere in a spell or a gap."""

_PART = Lengths(5, 10, 20, mean=12)
"""Minutes with a part of a group.

This and the next three are pooled from the six rows of 4 and 16 nodes, computed from the same public files: 375 spells,
of which 218 began and 229 ended with a part; 101 of them never had the whole.
"""

_BEGINS_WITH_PART = 0.58
_ENDS_WITH_PART = 0.61
_FALLS_AT_ITS_END = 0.34
"""The share of spells that fell from the whole to a part and then to nothing: a partial loss, but none in the spell's middle."""

_PARTIAL_PER_TOTAL = 1.6
"""The median of partial losses for each total loss in those six rows, for a row that was measured with one node."""

_TOGETHER = 0.47
"""The median correlation of two zones of one region, for the same GPUs and time, computed from the same public files.

17 pairs have 0.11 to 0.73. Turned traces reach 0.1 to 0.4.
"""

_GRID = 600
"""Seconds between the moments at which zones are compared with each other."""


def week(
    seed: int,
    machines: Sequence[str],
    zones: Sequence[str],
    most: Mapping[str, int],
    gpus_by_machine: Mapping[str, int],
) -> list[Step]:
    """Spot capacity of machines in zones over seven days, by time: steps from second 0, each with the nodes there from then on.

    `most` has the nodes of a machine which one zone gives when it gives all: as many as the pools ask for, as a measured zone
    did, so that one zone alone can carry a pool; `gpus_by_machine` the GPUs of a machine, 0 for
    none. The same arguments give the same steps: the draws are `random.Random` seeded with a text and its `random()` alone,
    which Python keeps the same from version to version (docs.python.org/3/library/random.html, "Notes on Reproducibility").
    Machines do not affect each other's draws; zones do, by their order. Without zones a machine has one trace, for all of them.
    """
    steps = [
        Step(at=at, machine=machine, zone=zone, nodes=nodes)
        for machine in machines
        for zone, trace in _traces(
            seed, machine, zones or (ALL,), most[machine], gpus_by_machine[machine]
        )
        for at, nodes in trace
    ]
    return sorted(steps, key=lambda step: step.at)


Trace = list[tuple[int, int]]
"""Seconds, and the nodes that are there from then on; the first at 0."""


def _traces(
    seed: int, machine: str, zones: Sequence[str], most: int, gpus: int
) -> Iterable[tuple[str, Trace]]:
    rows = shuffled(alike(gpus, most), Random(f"{seed} {machine}"))
    others: list[int] = []
    for place, zone in enumerate(zones):
        draws = Random(f"{seed} {machine} {zone}")
        trace = _turned(drawn(rows[place % len(rows)], most, draws), others, draws)
        others.append(_seen(trace))
        yield zone, trace


def shuffled(rows: Sequence[Measurement], draws: Random) -> list[Measurement]:
    """The rows in a drawn order. `Random.shuffle` is not kept the same between versions of Python."""
    return [
        row for _, row in sorted(((draws.random(), row) for row in rows), key=lambda pair: pair[0])
    ]


def drawn(row: Measurement, most: int, draws: Random, seconds: int = WEEK) -> Trace:
    """A week, or other seconds, of one machine in one zone that follows a measured row."""
    there = draws.random() < row.share
    now, end = 0.0, float(_BEFORE + seconds)
    changes: list[tuple[float, int]] = []
    while now < end:
        length = 60 * (row.spells if there else row.gaps).at(draws.random())
        changes += _spell(now, length, row, most, draws) if there else [(now, 0)]
        now, there = now + length, not there
    return _window(changes, _BEFORE, _BEFORE + seconds)


def _spell(
    begin: float, length: float, row: Measurement, most: int, draws: Random
) -> Iterable[tuple[float, int]]:
    """The nodes there during one spell: all of them, but for parts at its begin, at its end and now and then between."""
    if most == 1:
        return [(begin, 1)]
    rise = _part(length, _BEGINS_WITH_PART, draws)
    fall = _part(length - rise, _ENDS_WITH_PART, draws)
    parts = [(0.0, rise), (length - fall, length)]
    losses = row.partial_losses if row.nodes > 1 else _PARTIAL_PER_TOTAL * row.total_losses
    # Losses a day, without those at the end of a spell, over the share of the day in which there is something to lose.
    every = 86400 * row.share / max(losses - _FALLS_AT_ITS_END * row.total_losses, 1e-9)
    at = rise
    while (at := at + 2 * every * draws.random()) < length - fall:
        part = 60 * _PART.at(draws.random())
        parts.append((at, min(at + part, length - fall)))
        at += part
    changes = []
    for start, stop in sorted(parts):
        if stop > start:
            changes += [(begin + start, 1 + int(draws.random() * (most - 1))), (begin + stop, most)]
    # A part of no length leaves the whole; the gap's own change ends the spell.
    return [
        (at, nodes)
        for at, nodes in ([(begin, most)] if rise == 0 else []) + changes
        if at < begin + length
    ]


def _part(most: float, often: float, draws: Random) -> float:
    return min(60 * _PART.at(draws.random()), most) if draws.random() < often else 0.0


def _window(changes: Iterable[tuple[float, int]], begin: int, end: int) -> Trace:
    """The changes between two times, counted from the first, in whole seconds, without repeats."""
    nodes: dict[int, int] = {}
    for at, number in changes:
        if at < end:
            nodes[max(0, round(at) - begin)] = number
    return _plain(sorted(nodes.items()))


def _plain(trace: Trace) -> Trace:
    return trace[:1] + [later for before, later in pairwise(trace) if before[1] != later[1]]


def _seen(trace: Trace) -> int:
    """The moments of the grid with any node, as the bits of a number."""
    bits = 0
    for (at, nodes), (until, _) in pairwise([*trace, (WEEK, 0)]):
        if nodes:
            low, high = -(-at // _GRID), -(-until // _GRID)
            bits |= (1 << high) - (1 << low)
    return bits


def _turned(trace: Trace, others: Sequence[int], draws: Random) -> Trace:
    """The trace begun at another hour, so that it is there together with other zones as often as measured.

    Its end goes on at its begin. Turning keeps spells, gaps and shares. Of the hours at which it comes nearest to the
    measured correlation one is drawn.
    """
    if not others:
        return trace
    moments = WEEK // _GRID
    own, whole = _seen(trace), (1 << moments) - 1
    wanted = [
        (other, _together(own.bit_count() / moments, other.bit_count() / moments) * moments)
        for other in others
    ]
    off = []
    for turn in range(moments):
        turned = ((own << turn) | (own >> (moments - turn))) & whole
        off.append(sum(abs((turned & other).bit_count() - count) for other, count in wanted))
    near = [turn for turn in range(moments) if off[turn] <= min(off) + 0.01 * moments]
    shift = near[int(draws.random() * len(near))] * _GRID
    changes = sorted(((at + shift) % WEEK, nodes) for at, nodes in trace)
    return _plain(changes if changes[0][0] == 0 else [(0, changes[-1][1]), *changes])


def _together(one: float, other: float) -> float:
    """The share of time with both, of two zones that are there for these shares of it and correlate as measured."""
    return one * other + _TOGETHER * math.sqrt(one * (1 - one) * other * (1 - other))
