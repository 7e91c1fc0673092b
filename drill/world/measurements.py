"""Measured spot capacity (`data/spot-measurements.csv`), and lengths drawn as they were measured.

The figures are computed from the public measurements of github.com/skypilot-org/spot-traces at
commit 221da1a, the data behind "Can't Be Late: Optimizing Spot Instance Savings under Deadlines"
(NSDI 2024). Most rows are of AWS, four of Google Cloud; none were published for Azure. Kind
"availability": a request could be served, no machine was kept; "preemption": machines were held
until they were taken. `there` and `gone` are the 10th, 50th and 90th percentile of the minutes of a
spell and of a gap, `share` is the share of time with any machine. Losses are per day: a total loss
leaves no machine, a partial one leaves some.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path

FILE = Path(__file__).parent / "data" / "spot-measurements.csv"

DAY = 1440.0
"""Minutes."""


@dataclass(frozen=True)
class Lengths:
    """The lengths of spells or gaps, in minutes: `Lengths(5, 10, 20, mean=12).at(0.5)`.

    They are straight lines, on a logarithmic scale, through the measured percentiles. The tenth
    above `long` reaches to the length that gives the measured mean. Exponential lengths with the
    same mean have a median that is mostly one and a half to four times too long, and hardly any
    short and very long ones.
    """

    short: float
    median: float
    long: float
    mean: float

    @cached_property
    def longest(self) -> float:
        """The end of the tail: log-uniform lengths from `long` to it complete the mean of all."""
        lower, upper = _middle(self.short, self.median), _middle(self.median, self.long)
        tail = (self.mean - 0.1 * self.short - 0.4 * lower - 0.4 * upper) / 0.1
        least, most = self.long, max(self.long, tail) * 1e3
        for _ in range(100):
            half = math.sqrt(least * most)
            least, most = (half, most) if _middle(self.long, half) < tail else (least, half)
        return least

    @cached_property
    def _lines(self) -> tuple[tuple[float, float, float, float], ...]:
        """Each line: its end and start as parts of all lengths, its first length and its growth."""
        points = ((0.1, self.short), (0.5, self.median), (0.9, self.long), (1.0, self.longest))
        return tuple(
            (high, low, begin, math.log(end / begin))
            for (low, begin), (high, end) in pairwise(points)
        )

    def at(self, part: float) -> float:
        """Return the length below which this part (0 to 1) of all lengths is."""
        if part <= 0.1:
            return self.short
        high, low, begin, growth = next(line for line in self._lines if part <= line[0])
        return begin * math.exp(growth * (part - low) / (high - low))


def _middle(shorter: float, longer: float) -> float:
    """Return the mean of lengths whose logarithms are spread evenly between two."""
    if longer <= shorter * (1 + 1e-9):
        return shorter
    return (longer - shorter) / math.log(longer / shorter)


@dataclass(frozen=True)
class Measurement:
    """One measured zone and machine: a row of the file."""

    kind: str
    nodes: int
    """The number of nodes that were asked for together."""
    begun: str
    zone: str
    machine: str
    gpus: int
    days: float
    share: float
    total_losses: float
    partial_losses: float
    there: tuple[float, float, float]
    gone: tuple[float, float, float]

    @property
    def name(self) -> str:
        """The row in words."""
        return f"{self.kind} {self.nodes}-node {self.begun} {self.zone} {self.machine}"

    @cached_property
    def spells(self) -> Lengths:
        """The spells: as many a day as total losses, and together the share of time."""
        return Lengths(*self.there, mean=self.share * DAY / self.total_losses)

    @cached_property
    def gaps(self) -> Lengths:
        """The gaps between spells."""
        return Lengths(*self.gone, mean=(1 - self.share) * DAY / self.total_losses)


@cache
def measurements() -> tuple[Measurement, ...]:
    """Read all rows of the file, in its order."""
    with FILE.open(newline="", encoding="utf-8") as file:
        return tuple(
            Measurement(
                kind=row["kind"],
                nodes=int(row["nodes"]),
                begun=row["begun"],
                zone=row["zone"],
                machine=row["machine"],
                gpus=int(row["gpus"]),
                days=float(row["days"]),
                share=float(row["share"]),
                total_losses=float(row["total_losses"]),
                partial_losses=float(row["partial_losses"]),
                there=(float(row["there_10"]), float(row["there_50"]), float(row["there_90"])),
                gone=(float(row["gone_10"]), float(row["gone_50"]), float(row["gone_90"])),
            )
            for row in csv.DictReader(file)
        )


def alike(gpus: int, most: int) -> Sequence[Measurement]:
    """List the measurements for a machine with so many GPUs (0 for none) and at most `most` nodes.

    Machines with one GPU were measured in groups of 4 and 16 nodes, machines with 8 GPUs or none
    only alone. Machines of 2 to 7 GPUs, which nobody measured, count as machines with one.
    """
    asked = 1 if most <= 2 or gpus == 0 or gpus >= 8 else 4 if most <= 9 else 16
    kind = 0 if gpus == 0 else 8 if gpus >= 8 else 1
    # Machines that were never lost in two days say nothing about spells.
    lost = [row for row in measurements() if row.total_losses > 0]
    return [row for row in lost if row.gpus == kind and row.nodes == asked]
