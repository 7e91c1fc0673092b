"""The verdicts of a drill, each against its bound."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from drill.judge import lost_work, placement, waits
from drill.judge.outcome import Saved, cost
from drill.judge.verdict import Verdict
from drill.judge.view import View
from drill.world.record import Record

__all__ = ["Best", "Verdict", "failed", "verdicts"]


class Best(Protocol):
    """The least cost of the same work on the same capacity, with hindsight."""

    @property
    def cost(self) -> float | None:
        """US dollars; None if a price is unknown."""

    @property
    def explanation(self) -> str:
        """The rules of the least cost, in sentences."""


def verdicts(record: Record, best: Best | None = None, saved: Saved | None = None) -> list[Verdict]:
    """List the verdicts of a record in the order of the report.

    `best` is the least cost with hindsight, `saved` the comparison with on demand alone, if known.
    """
    view = View(record)
    measured = waits.waits(view)
    return [
        lost_work.lost(view),
        lost_work.doubled(view),
        placement.platform(view),
        placement.share(view),
        waits.longest(view, measured),
        waits.fallback(view, measured),
        placement.early(view),
        placement.back(view),
        placement.moves(view),
        lost_work.repeated(view),
        lost_work.complete(view),
        lost_work.slowdown(view),
        cost(view, None if best is None else best.cost, saved),
        waits.full_pools(view, measured),
    ]


def failed(found: Iterable[Verdict]) -> bool:
    """Return whether a drill with these verdicts ends with an error."""
    return any(verdict.ok is False for verdict in found)
