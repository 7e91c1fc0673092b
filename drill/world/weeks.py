"""Weeks of spot capacity, drawn by machine and zone from measurements (ADR 6).

Each machine in each zone follows one measured row: spells and gaps by its percentiles and its share
of time. A whole group comes and goes at once, apart from short times with a part of it. The zones
of a machine get different rows, and change together about as much as measured zones of one region.
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

This and the next three are computed from the same public files, from the six rows of 4 and 16
nodes: 375 spells, of which 218 began and 229 ended with a part; 101 of them never had the whole.
"""
_BEGINS_WITH_PART = 0.58
_ENDS_WITH_PART = 0.61
_FALLS_AT_ITS_END = 0.34
"""The share of spells with a partial loss only at their end."""
_PARTIAL_PER_TOTAL = 1.6
"""The median of partial losses for each total loss, for a row that was measured with one node."""
_TOGETHER = 0.47
"""The median correlation of two zones of one region, from the same public files.

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
    """Draw the spot capacity of machines in zones over seven days: steps from second 0, by time.

    `most` has the most nodes of a machine in one zone: as many as the pools ask for, so that one
    zone alone can carry a pool. `gpus_by_machine` has the GPUs of a machine, 0 for none. Without
    zones a machine has one trace for all zones.

    The same arguments give the same steps: the draws use only `random()` of a `random.Random` that
    is seeded with a text, which Python keeps from version to version
    (docs.python.org/3/library/random.html, "Notes on Reproducibility"). Machines do not affect each
    other's draws; zones do, by their order.
    """
    steps = []
    for machine in machines:
        numbers = (most[machine], gpus_by_machine[machine])
        for zone, trace in _traces(seed, machine, zones or (ALL,), *numbers):
            steps += [Step(at=at, machine=machine, zone=zone, nodes=nodes) for at, nodes in trace]
    return sorted(steps, key=lambda step: step.at)


Trace = list[tuple[int, int]]
"""Seconds, and the nodes from then on; the first entry is at 0."""


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
    """Return the rows in a drawn order. `Random.shuffle` may change with Python's version."""
    drawn = [(draws.random(), row) for row in rows]
    return [row for _, row in sorted(drawn, key=lambda pair: pair[0])]


def drawn(row: Measurement, most: int, draws: Random, seconds: int = WEEK) -> Trace:
    """Draw a week, or other seconds, of one machine in one zone from a measured row."""
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
    """Draw the nodes during one spell: all, or a part at its start, at its end and in between."""
    if most == 1:
        return [(begin, 1)]
    rise = _part(length, _BEGINS_WITH_PART, draws)
    fall = _part(length - rise, _ENDS_WITH_PART, draws)
    parts = [(0.0, rise), (length - fall, length)]
    losses = row.partial_losses if row.nodes > 1 else _PARTIAL_PER_TOTAL * row.total_losses
    # Seconds of spot between two partial losses, without the losses at the end of a spell.
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
    first = [(begin, most)] if rise == 0 else []
    return [(at, nodes) for at, nodes in first + changes if at < begin + length]


def _part(most: float, often: float, draws: Random) -> float:
    return min(60 * _PART.at(draws.random()), most) if draws.random() < often else 0.0


def _window(changes: Iterable[tuple[float, int]], begin: int, end: int) -> Trace:
    """Return the changes between two times, from the first, in whole seconds, without repeats."""
    nodes: dict[int, int] = {}
    for at, number in changes:
        if at < end:
            nodes[max(0, round(at) - begin)] = number
    return _plain(sorted(nodes.items()))


def _plain(trace: Trace) -> Trace:
    return trace[:1] + [later for before, later in pairwise(trace) if before[1] != later[1]]


def _seen(trace: Trace) -> int:
    """Return the moments of the grid with any node, as the bits of a number."""
    bits = 0
    for (at, nodes), (until, _) in pairwise([*trace, (WEEK, 0)]):
        if nodes:
            low, high = -(-at // _GRID), -(-until // _GRID)
            bits |= (1 << high) - (1 << low)
    return bits


def _turned(trace: Trace, others: Sequence[int], draws: Random) -> Trace:
    """Return the trace from another hour on, so that it correlates with other zones as measured.

    Its end continues at its start, which keeps spells, gaps and shares. One of the hours is drawn
    that come nearest to the measured correlation.
    """
    if not others:
        return trace
    moments = WEEK // _GRID
    own, whole = _seen(trace), (1 << moments) - 1
    shares = [(other, other.bit_count() / moments) for other in others]
    part = own.bit_count() / moments
    wanted = [(other, _together(part, share) * moments) for other, share in shares]
    off = []
    for turn in range(moments):
        turned = ((own << turn) | (own >> (moments - turn))) & whole
        off.append(sum(abs((turned & other).bit_count() - count) for other, count in wanted))
    near = [turn for turn in range(moments) if off[turn] <= min(off) + 0.01 * moments]
    shift = near[int(draws.random() * len(near))] * _GRID
    changes = sorted(((at + shift) % WEEK, nodes) for at, nodes in trace)
    return _plain(changes if changes[0][0] == 0 else [(0, changes[-1][1]), *changes])


def _together(one: float, other: float) -> float:
    """Return the share of time with both of two zones that have these shares and correlate."""
    return one * other + _TOGETHER * math.sqrt(one * (1 - one) * other * (1 - other))
