"""Verdicts on work that is lost, done twice, repeated, incomplete or late."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise
from statistics import median, quantiles

from drill.judge.bounds import excuse, longest_due
from drill.judge.verdict import Verdict, counted, span
from drill.judge.view import View
from drill.world.record import Pod, Work
from drill.world.scenario_texts import first

COMEBACK = 180.0
"""Seconds within which the next pod of a piece of work exists.

Recorded on Kubernetes 1.36.2: after 56 s, when the pod of the lost node was collected.
"""

OVERLAP = 60.0
"""Seconds for which an ending pod may run beside its successor."""

SHORT = 900.0
"""The longest work that needs no checkpoint, in seconds: it is done again as a whole."""

SERVING = ("platform", "notebook", "predictor")
"""Roles of pods that serve until the end."""

_ENDED = ("evicted", "drained", "failed", "removed")


def by_work(view: View) -> Mapping[str, list[Pod]]:
    """Return the pods of each piece of work, in the order of their creation."""
    pods: dict[str, list[Pod]] = defaultdict(list)
    for pod in sorted(view.record.pods, key=lambda pod: pod.created):
        pods[pod.work].append(pod)
    return pods


def lost(view: View) -> Verdict:
    """Judge whether work failed, or has no pod any more although it is not finished."""
    pods = by_work(view)
    gone = [
        work.name
        for work in view.record.work
        if work.failed or _never_came_back(view, work, pods.get(work.name, []))
    ]
    reasons = sorted({work.failed for work in view.record.work if work.failed})
    why = "Every piece of work is finished or still has a pod."
    if gone:
        cause = first(reasons) if reasons else "No pod replaced the one that ended."
        why = f"Lost: {first(gone)}. {cause}"
    measured = f"{len(gone):,} of {len(view.record.work):,}"
    return Verdict("Work lost for good", not gone, measured, "0", why)


def _never_came_back(view: View, work: Work, pods: list[Pod]) -> bool:
    if work.finished is not None:
        return False
    if not pods:
        return view.end - work.submitted > COMEBACK
    last = pods[-1]
    return last.ended is not None and last.how in _ENDED and view.end - last.ended > COMEBACK


def doubled(view: View) -> Verdict:
    """Judge whether work was finished twice, or ran in two pods at once."""
    pods = by_work(view)
    twice = [
        work.name
        for work in view.record.work
        if work.times > 1 or _at_once(view, work, pods.get(work.name, []))
    ]
    measured = f"{len(twice):,} of {len(view.record.work):,}"
    why = "No piece of work was finished twice or had two running pods."
    if twice:
        why = f"Done twice: {first(twice)}."
    return Verdict("Work done twice", not twice, measured, "0", why)


def _at_once(view: View, work: Work, pods: list[Pod]) -> bool:
    if work.needs is None:
        return False  # A Deployment starts a replica before the old one ends, by its own strategy.
    started = [pod for pod in pods if pod.started is not None]
    running = sorted((pod.started or 0.0, pod.ended or view.end) for pod in started)
    return any(ended - begun > OVERLAP for (_, ended), (begun, _) in pairwise(running))


def repeated(view: View) -> Verdict:
    """Judge the work lost since the last checkpoint: at most one interval a pod and eviction."""
    name, bound = "Work done again", "one checkpoint interval a pod and eviction"
    work = {each.name: each for each in view.record.work}
    known = [pod for pod in view.record.pods if pod.work in work]
    ended = [pod for pod in known if pod.how in ("evicted", "drained")]
    if not ended:
        why = "The scenario ended no running pod."
        return Verdict(name, None, "no pod was evicted or drained", bound, why)
    over = [pod for pod in ended if pod.lost > _interval(work[pod.work]) + 1]
    worst = max(ended, key=lambda pod: pod.lost)
    total = span(sum(pod.lost for pod in ended))
    measured = f"{total} by {counted(len(ended), 'pod')}; at most {span(worst.lost)} a pod"
    if not over:
        why = "Each saved at its notice."
        if worst.lost:
            why = "Pods went on from their last checkpoint."
        return Verdict(name, True, measured, bound, why)
    without = [pod.name for pod in over if work[pod.work].checkpoint is None]
    why = f"More than that: {first([pod.name for pod in over])}."
    if without:
        pods = counted(len(without), "pod")
        why += f" {pods} worked longer than {span(SHORT)} without a checkpoint: let it write one."
    return Verdict(name, False, measured, bound, why)


def _interval(work: Work) -> float:
    if work.checkpoint is not None:
        return work.checkpoint
    return work.needs if work.needs is not None and work.needs <= SHORT else 0.0


def complete(view: View) -> Verdict:
    """Judge whether work is done, runs or is not yet due, and whether services have nodes."""
    name, bound = "Work completes", "all done, running, or not yet due"
    ending = [work for work in view.record.work if work.needs is not None]
    serving = [pod for pod in view.record.pods if pod.role in SERVING]
    without = [pod.name for pod in serving if _without_a_node(view, pod)]
    if not ending and not without:
        why = "The scenario has only work that serves."
        return Verdict(name, None, "no work that ends", bound, why)
    pods = by_work(view)
    states: dict[str, list[str]] = defaultdict(list)
    for work in ending:
        states[_state(view, work, pods.get(work.name, []))].append(work.name)
    states["stuck"] += without
    measured = ", ".join(f"{len(states[state]):,} {state}" for state in _STATES if states[state])
    if stuck := states["stuck"]:
        why = f"Neither done nor on a node: {first(stuck)}."
    elif states["waiting for a full pool"]:
        why = "Some work waits for a pool that is at its maximum: see below."
    else:
        why = (
            "What is not done was still on a node at the end,"
            " or within the time that its settings allow."
        )
    return Verdict(name, not stuck, measured, bound, why)


def _without_a_node(view: View, pod: Pod) -> bool:
    if pod.bound is not None or pod.ended is not None:
        return False
    return view.end - pod.created > longest_due(view, pod) and not excuse(view, pod)


_STATES = ("done", "running", "waiting for a full pool", "not yet due", "stuck")


def _state(view: View, work: Work, pods: list[Pod]) -> str:
    if work.finished is not None:
        return "done"
    if work.failed:
        return "stuck"
    if not pods:
        return "stuck" if view.end - work.submitted > COMEBACK else "not yet due"
    last = pods[-1]
    if last.ended is not None:
        return "stuck" if view.end - last.ended > COMEBACK else "not yet due"
    if last.bound is not None:
        return "running"
    if view.end - last.created <= longest_due(view, last):
        return "not yet due"
    return "waiting for a full pool" if excuse(view, last) else "stuck"


def slowdown(view: View) -> Verdict:
    """Judge whether work is done within the accepted wait and `slowdown` times its need."""
    record = view.record
    name, accepted = "Slowdown of work", span(record.accepted_wait)
    bound = f"{record.slowdown:g} times its need, and {accepted} of waiting"
    ending = [work for work in record.work if work.needs]
    done = [_times(work) for work in ending if work.finished is not None]
    if not done:
        return Verdict(name, None, "no work was finished", bound, "")
    high = quantiles(done, n=20)[-1] if len(done) > 1 else done[0]
    text = (
        f"{median(done):.1f} times (median), {high:.1f} (95 %), {max(done):.1f} (worst)"
        f" of {counted(len(done), 'piece')}"
    )
    late = [work for work in ending if _late(view, work) > 0]
    if not late:
        return Verdict(name, True, text, bound, "All work was done in time.")
    worst = max(late, key=lambda work: _late(view, work))
    names = first([work.name for work in late])
    by = span(_late(view, worst))
    why = f"{counted(len(late), 'piece')} late, {worst.name} by {by}: {names}."
    return Verdict(name, False if record.scenario == "week" else None, text, bound, why)


def _times(work: Work) -> float:
    return ((work.finished or 0.0) - work.submitted) / (work.needs or 1.0)


def _late(view: View, work: Work) -> float:
    """Return the seconds by which work is late; not above 0 for work in time."""
    took = (view.end if work.finished is None else work.finished) - work.submitted
    return took - view.record.accepted_wait - view.record.slowdown * (work.needs or 0.0)
