"""The outcome of a drill in the few figures that settings and policies are compared by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from drill.judge.bounds import until
from drill.judge.pieces import cost, runs
from drill.judge.view import View
from drill.world.record import Record


@dataclass(frozen=True)
class Outcome:
    """What a drill's GPU work cost, and how it was served."""

    usd: float | None
    """US dollars of GPU nodes; None where a price is unknown."""
    longest_wait: float
    """Seconds that a pod waited for a node, at most."""
    waited: float
    """GPU seconds that pods with GPUs waited for a node, together."""
    on_spot: float | None
    """The share of GPU seconds worked on spot; None without any."""
    again: float
    """The share of GPU seconds that was work done again, or not needed."""
    unfinished: int
    """Pieces of work that end and were not finished."""


@dataclass(frozen=True)
class Row:
    """One policy's outcome; the names of policies are those of `drill.tune.policies`."""

    policy: str
    outcome: Outcome


@dataclass(frozen=True)
class Saved:
    """The same work by the stack's own settings and on demand alone, both in memory, in US dollars."""

    ours: float
    alone: float

    @property
    def share(self) -> float:
        """The share of the cost on demand alone that is saved; negative where spot costs more."""
        return 1 - self.ours / self.alone if self.alone else 0.0


OURS, ALONE = "as the stack says", "on demand alone"
"""The policies between which the saving is."""


def saved(rows: Iterable[Row]) -> Saved | None:
    """What a table of policies says was saved; None where it lacks one of the two, or a price."""
    usd = {row.policy: row.outcome.usd for row in rows}
    ours, alone = usd.get(OURS), usd.get(ALONE)
    return None if ours is None or alone is None else Saved(ours, alone)


def outcome(record: Record) -> Outcome:
    """Read the outcome off a drill's record."""
    view = View(record)
    waits = [(pod.gpus, until(view, pod) - view.due(pod)) for pod in record.pods]
    found = runs(record)
    worked = sum(run.pod.gpus * (run.end - run.begin) for run in found)
    spot = sum(run.pod.gpus * (run.end - run.begin) for run in found if run.pool.capacity == "spot")
    useful = sum(run.pod.gpus * (run.useful - run.begin) for run in found)
    return Outcome(
        usd=cost(record),
        longest_wait=max((wait for _, wait in waits), default=0.0),
        waited=sum(gpus * wait for gpus, wait in waits),
        on_spot=spot / worked if worked else None,
        again=1 - useful / worked if worked else 0.0,
        unfinished=sum(work.needs is not None and work.finished is None for work in record.work),
    )
