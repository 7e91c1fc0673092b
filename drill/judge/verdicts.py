"""The verdicts of a drill: what a record shows, each against its bound."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from drill.judge import cost, lost_work, placement, slowdown, waits
from drill.judge.outcome import Saved
from drill.judge.verdict import Verdict
from drill.judge.view import View
from drill.world.record import Record

__all__ = ["Best", "Verdict", "failed", "verdicts"]


class Best(Protocol):
    """The least that the same work can cost on the same capacity, known with hindsight."""

    @property
    def cost(self) -> float | None:
        """US dollars; None where a price is unknown."""

    @property
    def explanation(self) -> str:
        """The rules of the least cost, in sentences."""


def verdicts(record: Record, best: Best | None = None, saved: Saved | None = None) -> list[Verdict]:
    """The verdicts of a record in the order of the report; `best` is what hindsight found, and `saved` what was compared with on
    demand alone, if they were asked.
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
        slowdown.slowdown(view),
        cost.cost(view, None if best is None else best.cost, saved),
        waits.full_pools(view, measured),
    ]


def failed(found: Iterable[Verdict]) -> bool:
    """Whether a drill with these verdicts ends with an error."""
    return any(verdict.ok is False for verdict in found)
