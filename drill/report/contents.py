"""The report of a record."""

from __future__ import annotations

from collections.abc import Iterable

from drill.judge.losses import Loss
from drill.judge.outcome import Row, saved_by
from drill.judge.verdicts import Best, failed, verdicts
from drill.judge.view import View
from drill.report import figures
from drill.report.model import FORMAT, Clock, Report
from drill.report.timeline import timeline
from drill.world.record import Record

GKE_CAVEAT = (
    "Google publishes no timers of its autoscaler: each figure of GKE's behaviour here is"
    " documented where a page says it, and assumed otherwise."
)


def build(
    record: Record,
    best: Best | None = None,
    losses: Iterable[Loss] = (),
    policies: Iterable[Row] = (),
) -> Report:
    """Return the report of a record.

    `best` is the least cost with hindsight, `losses` the causes of the distance to it, `policies`
    the stack's settings and fixed policies on the same work.
    """
    view, rows = View(record), tuple(policies)
    saved, clock = saved_by(rows), record.clock
    found = verdicts(record, best, saved)
    moved = figures.not_moved(view)
    caveats = record.caveats
    if record.provider == "gcp" and not any("documented" in caveat for caveat in caveats):
        caveats = (GKE_CAVEAT, *caveats)
    return Report(
        format=FORMAT,
        scenario=record.scenario,
        description=record.description,
        stack=record.stack,
        provider=record.provider,
        location=record.location,
        seed=record.seed,
        autoscaler=record.autoscaler,
        settings=dict(record.settings),
        clock=Clock(clock.length, clock.factor, round(clock.wall, 1), clock.distortions),
        caveats=caveats,
        capacity_source=record.measured,
        price_source=record.price_source,
        failed=failed(found),
        numbers=figures.numbers(record, found, saved),
        policies=rows,
        verdicts=tuple(found),
        figures=figures.figures(view, found, best, moved),
        placed=figures.pods_by_place(view),
        pools=figures.pool_uses(view),
        not_moved=moved,
        losses=tuple(losses),
        best="" if best is None else best.explanation,
        timeline=timeline(record),
    )
