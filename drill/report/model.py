"""The report of a drill as data: what the terminal, the page and `--json` show.

Times are seconds of the drill's clock, costs US dollars. Keys are stable: a key may be added; a
changed meaning raises FORMAT.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from drill.judge.losses import Loss
from drill.judge.outcome import Row
from drill.judge.verdict import State, Verdict
from drill.world.record import Clock

FORMAT = 2

Unit = Literal["seconds", "hours", "pods", "nodes", "USD", "share", "pieces", "verdicts"]
Band = Literal["spot", "on-demand", "booting", "waiting", "other"]


@dataclass(frozen=True)
class Figure:
    """One number of a drill in comparisons."""

    key: str
    name: str
    value: float | None
    unit: Unit


@dataclass(frozen=True)
class Placed:
    """The pods of one role on one pool."""

    role: str
    pool: str
    capacity: str
    pods: int
    pod_hours: float
    restarts: int
    """The pods that were evicted or drained."""
    lost: float
    """Seconds of work that were done again."""


@dataclass(frozen=True)
class PoolUse:
    """The nodes of one pool, and their cost."""

    name: str
    machine: str
    capacity: str
    gpus: int
    most: int | None
    peak: int
    """The most nodes at once."""
    machine_hours: float
    price: float | None
    cost: float | None
    least: int | None = None
    """The minimum of its nodes; this and `most` are None if it is not autoscaled."""
    zones: tuple[str, ...] = ()
    fallback: tuple[str, ...] = ()
    """The pools that take its work when it cannot grow, in their order."""


@dataclass(frozen=True)
class NotMoved:
    """Machine-hours of an on-demand pool while its spot pools could have taken its pods."""

    pool: str
    spot: tuple[str, ...]
    machine_hours: float
    extra: float | None
    """The extra cost of these hours against spot; None without prices."""


@dataclass(frozen=True)
class Series:
    """A value for each step of the timeline."""

    name: str
    band: Band
    values: tuple[float, ...]


@dataclass(frozen=True)
class Stretch:
    """A time with so many spot nodes of a machine in a zone; None for no bound."""

    machine: str
    zone: str
    begin: float
    end: float
    nodes: int | None


@dataclass(frozen=True)
class Mark:
    """An event of the timeline, or several of one kind in one step."""

    at: float
    kind: str
    count: int
    text: str


@dataclass(frozen=True)
class Timeline:
    """The drill over time, in few steps."""

    length: float
    step: float
    """Seconds of a step; 0 if every change has its own step."""
    times: tuple[float, ...]
    """The begins of the steps."""
    nodes: tuple[Series, ...]
    """Nodes, stacked: by pool, then requested ones that are not ready. Means of a step."""
    pods: tuple[Series, ...]
    """Pods with GPUs, stacked: on spot, on demand, waiting. Means of a step."""
    capacity: tuple[Stretch, ...]
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Number:
    """One of the four numbers that a report begins with."""

    name: str
    value: str
    words: str
    """One sentence about it, with its unit."""
    state: State = "note"


@dataclass(frozen=True)
class Report:
    """The report of one drill."""

    format: int
    scenario: str
    description: str
    stack: str
    provider: str
    location: str
    seed: int
    autoscaler: str
    settings: dict[str, str]
    clock: Clock
    caveats: tuple[str, ...]
    capacity_source: str
    price_source: str
    failed: bool
    numbers: tuple[Number, ...]
    policies: tuple[Row, ...]
    """The stack's settings and fixed policies on the same work; empty if they were not compared."""
    verdicts: tuple[Verdict, ...]
    figures: tuple[Figure, ...]
    placed: tuple[Placed, ...]
    pools: tuple[PoolUse, ...]
    not_moved: tuple[NotMoved, ...]
    losses: tuple[Loss, ...]
    best: str
    """The explanation of the best possible; empty without it."""
    timeline: Timeline


@dataclass(frozen=True)
class Moved:
    """A figure that differs between two reports."""

    key: str
    name: str
    unit: Unit
    before: float | None
    after: float | None
    sentence: str


@dataclass(frozen=True)
class Turned:
    """A verdict that differs between two reports."""

    name: str
    before: State
    after: State


@dataclass(frozen=True)
class Comparison:
    """Two reports of one scenario."""

    format: int
    changed: tuple[str, ...]
    """The second side's settings that differ, as `KEY: VALUE` or in words."""
    comparable: tuple[str, ...]
    """The reasons why the two are of different drills; empty for one drill."""
    moved: tuple[Moved, ...]
    turned: tuple[Turned, ...]
    before: Report
    after: Report
    names: tuple[str, str] = ("before", "after")
    """The names of the two sides: a stack file, a revision, the work tree."""
    basis: str = ""
    """One sentence about the work and spot capacity that both have alike."""
