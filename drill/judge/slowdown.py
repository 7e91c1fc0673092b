"""Slowdown: how many times its need work took from its submission to its finish."""

from __future__ import annotations

from statistics import median, quantiles

from drill.judge.spans import counted, span
from drill.judge.verdict import Verdict
from drill.judge.view import View
from drill.world.record import Work
from drill.world.scenario_texts import first


def slowdown(view: View) -> Verdict:
    """Work of a drawn week is done within the accepted wait and `slowdown` times its need; in other scenarios a note."""
    record = view.record
    name, bound = (
        "Slowdown of work",
        f"{record.slowdown:g} times its need, and {span(record.accepted_wait)} of waiting",
    )
    ending = [work for work in record.work if work.needs]
    done = [_times(work) for work in ending if work.finished is not None]
    if not done:
        return Verdict(name, None, "no work was finished", bound, "")
    high = quantiles(done, n=20)[-1] if len(done) > 1 else done[0]
    text = f"{median(done):.1f} times (median), {high:.1f} (95 %), {max(done):.1f} (worst) of {counted(len(done), 'piece')}"
    late = [work for work in ending if _late(view, work) > 0]
    if not late:
        return Verdict(name, True, text, bound, "All work was done in time.")
    worst = max(late, key=lambda work: _late(view, work))
    why = f"{counted(len(late), 'piece')} late, {worst.name} by {span(_late(view, worst))}: {first([w.name for w in late])}."
    return Verdict(name, False if record.scenario == "week" else None, text, bound, why)


def _times(work: Work) -> float:
    return ((work.finished or 0.0) - work.submitted) / (work.needs or 1.0)


def _late(view: View, work: Work) -> float:
    """Seconds by which work is later than asked; not above 0 for work in time."""
    end = view.end if work.finished is None else work.finished
    return (
        end
        - work.submitted
        - view.record.accepted_wait
        - view.record.slowdown * (work.needs or 0.0)
    )
