"""Work that is lost, done twice, repeated or late."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise

from drill.judge.bounds import due, excuse
from drill.judge.spans import counted, span
from drill.judge.verdict import Verdict
from drill.judge.view import View
from drill.world.record import Pod, Work
from drill.world.scenario_texts import first

COMEBACK = 180.0
"""Seconds within which the next pod of a piece of work exists.

An evicted pod's was seen after 56 s, when the pod that its node took with it was collected (recorded on Kubernetes 1.36.2).
"""

OVERLAP = 60.0
"""Seconds for which an ending pod may run beside its successor: a notice of eviction is at most 30 s on Azure, 120 s on GKE."""

SHORT = 900.0
"""Seconds of work that need no checkpoint: they are done again as a whole."""

SERVING = ("platform", "notebook", "predictor")
"""Roles whose pods serve until the end."""

_ENDED = ("evicted", "drained", "failed", "removed")


def by_work(view: View) -> Mapping[str, list[Pod]]:
    """The pods of each piece of work, in the order of their creation."""
    pods: dict[str, list[Pod]] = defaultdict(list)
    for pod in sorted(view.record.pods, key=lambda pod: pod.created):
        pods[pod.work].append(pod)
    return pods


def lost(view: View) -> Verdict:
    """A piece of work that failed, or has no pod any more although it is not finished."""
    pods = by_work(view)
    gone = [
        work.name
        for work in view.record.work
        if work.failed or _never_came_back(view, work, pods.get(work.name, []))
    ]
    reasons = sorted({work.failed for work in view.record.work if work.failed})
    why = "Every piece of work is finished or still has a pod."
    if gone:
        why = f"Lost: {first(gone)}. " + (
            first(reasons) if reasons else "No pod replaced the one that ended."
        )
    return Verdict(
        "Work lost for good", not gone, f"{len(gone):,} of {len(view.record.work):,}", "0", why
    )


def _never_came_back(view: View, work: Work, pods: list[Pod]) -> bool:
    if work.finished is not None:
        return False
    if not pods:
        return view.end - work.submitted > COMEBACK
    last = pods[-1]
    return last.ended is not None and last.how in _ENDED and view.end - last.ended > COMEBACK


def doubled(view: View) -> Verdict:
    """A piece of work finished twice, or run by two pods at once."""
    pods = by_work(view)
    twice = [
        work.name
        for work in view.record.work
        if work.times > 1 or _at_once(view, work, pods.get(work.name, []))
    ]
    why = (
        f"Done twice: {first(twice)}."
        if twice
        else "No piece of work was finished twice or had two running pods."
    )
    return Verdict(
        "Work done twice", not twice, f"{len(twice):,} of {len(view.record.work):,}", "0", why
    )


def _at_once(view: View, work: Work, pods: list[Pod]) -> bool:
    if (
        work.needs is None
    ):  # A Deployment starts a replica before the old one ends, by its own strategy.
        return False
    running = sorted(
        (pod.started, pod.ended or view.end) for pod in pods if pod.started is not None
    )
    return any(ended - begun > OVERLAP for (_, ended), (begun, _) in pairwise(running))


def repeated(view: View) -> Verdict:
    """Work lost since the last checkpoint: at most one interval for each pod and eviction."""
    name, bound = "Work done again", "one checkpoint interval a pod and eviction"
    work = {each.name: each for each in view.record.work}
    ended = [
        pod for pod in view.record.pods if pod.how in ("evicted", "drained") and pod.work in work
    ]
    if not ended:
        return Verdict(
            name, None, "no pod was evicted or drained", bound, "The scenario ended no running pod."
        )
    over = [pod for pod in ended if pod.lost > _interval(work[pod.work]) + 1]
    worst = max(ended, key=lambda pod: pod.lost)
    measured = f"{span(sum(pod.lost for pod in ended))} by {counted(len(ended), 'pod')}; at most {span(worst.lost)} a pod"
    if not over:
        words = (
            "Each saved at its notice."
            if not worst.lost
            else "Pods went on from their last checkpoint."
        )
        return Verdict(name, True, measured, bound, words)
    without = [pod.name for pod in over if work[pod.work].checkpoint is None]
    why = f"More than that: {first([pod.name for pod in over])}."
    if without:
        why += f" {counted(len(without), 'pod')} worked longer than {span(SHORT)} without a checkpoint: let it write one."
    return Verdict(name, False, measured, bound, why)


def _interval(work: Work) -> float:
    if work.checkpoint is not None:
        return work.checkpoint
    return work.needs if work.needs is not None and work.needs <= SHORT else 0.0


def complete(view: View) -> Verdict:
    """Every piece of work that ends has ended, runs, or began too late to be done; what serves has its nodes."""
    name, bound = "Work completes", "all done, running, or not yet due"
    ending = [work for work in view.record.work if work.needs is not None]
    serving = [
        pod.name for pod in view.record.pods if pod.role in SERVING and _without_a_node(view, pod)
    ]
    if not ending and not serving:
        return Verdict(
            name, None, "no work that ends", bound, "The scenario has only work that serves."
        )
    pods = by_work(view)
    states: dict[str, list[str]] = defaultdict(list)
    for work in ending:
        states[_state(view, work, pods.get(work.name, []))].append(work.name)
    states["stuck"] += serving
    measured = ", ".join(f"{len(states[state]):,} {state}" for state in _STATES if states[state])
    if stuck := states["stuck"]:
        why = f"Neither done nor on a node: {first(stuck)}."
    elif states["waiting for a full pool"]:
        why = "Some work waits for a pool that is at its maximum: see below."
    else:
        why = "What is not done was still on a node at the end, or within the time that its settings allow."
    return Verdict(name, not stuck, measured, bound, why)


def _without_a_node(view: View, pod: Pod) -> bool:
    waits = pod.bound is None and pod.ended is None and view.end - pod.created > due(view, pod)
    return waits and not excuse(view, pod)


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
    if view.end - last.created <= due(view, last):
        return "not yet due"
    return "waiting for a full pool" if excuse(view, last) else "stuck"
