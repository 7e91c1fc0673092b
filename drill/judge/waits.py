"""Verdicts on the waits of pods for nodes."""

from __future__ import annotations

from dataclasses import dataclass

from drill.judge.bounds import GPU_AGE, RETRY, Bound, bound, excuse, quick, wait_end
from drill.judge.verdict import Verdict, counted, span
from drill.judge.view import View
from drill.world.record import Pod
from drill.world.scenario_texts import first

TWIN = "fallback[].onDemand.maxNodes"


@dataclass(frozen=True)
class Wait:
    """The wait of one pod for a node, in seconds: `waits(view)[0].length`."""

    pod: Pod
    length: float
    bound: Bound | None
    """The longest wait that the settings imply; None on GKE."""
    full: str = ""
    """The pools at their maximum that the pod waited for; empty for another reason."""

    @property
    def allowed(self) -> float | None:
        """The implied wait in seconds."""
        return self.bound.length if self.bound else None

    @property
    def unexpected(self) -> bool:
        """Whether it is longer than the settings imply."""
        return self.bound is not None and self.length > self.bound.length


def waits(view: View) -> list[Wait]:
    """Return the waits of all pods; a pod without a node waits until its end, or the drill's."""
    return [_wait(view, pod) for pod in view.record.pods]


def _wait(view: View, pod: Pod) -> Wait:
    length, allowed = wait_end(view, pod) - view.due(pod), bound(view, pod)
    late = length > (allowed.length if allowed else quick(view, pod))
    return Wait(pod, length, allowed, excuse(view, pod) if late else "")


def longest(view: View, measured: list[Wait]) -> Verdict:
    """Judge the longest wait of any pod against the wait that the stack file accepts."""
    name = "Longest wait for a node"
    if not measured:
        return Verdict(name, None, "no pod", _accepted(view), "The scenario has no pods.")
    worst = max(measured, key=lambda wait: wait.length)
    text = f"{span(worst.length)} ({worst.pod.name})"
    text += "" if worst.pod.bound is not None else ", still without a node"
    return _judged(view, name, text, measured, "Every wait is within what the settings imply.")


def _accepted(view: View) -> str:
    return f"{span(view.record.accepted_wait)}: growth.acceptedWait"


def _judged(view: View, name: str, text: str, measured: list[Wait], well: str) -> Verdict:
    """Judge waits against the accepted one; settings and full pools explain but excuse none."""
    over = [wait for wait in measured if wait.length > view.record.accepted_wait]
    if over:
        why = f"{counted(len(over), 'pod')} waited longer than accepted."
        return Verdict(name, False, text, _accepted(view), " ".join([why, *_reasons(view, over)]))
    strange = [wait for wait in measured if wait.unexpected]
    if strange:
        why = f"{counted(len(strange), 'pod')} waited longer than the timers alone imply."
        words = " ".join([why, *_reasons(view, strange)])
        return Verdict(name, True, text, _accepted(view), words, explained=True)
    return Verdict(name, True, text, _accepted(view), held_text(measured) or well)


def _reasons(view: View, late: list[Wait]) -> list[str]:
    """Say what made pods wait, each cause in a sentence."""
    found = []
    if full := [wait for wait in late if wait.full]:
        pools = sorted({name for wait in full for name in wait.full.split(", ")})
        limits = ", ".join(f"{pool} at its maximum of {view.pools[pool].most}" for pool in pools)
        pods = counted(len(full), "pod")
        found.append(f"{pods} waited for {limits}: raise {TWIN}, or accept the wait.")
    rest = [wait for wait in late if not wait.full]
    if absent := [wait.pod.name for wait in rest if wait.pod.created - view.due(wait.pod) > RETRY]:
        names = first(absent)
        found.append(f"Their work had no pod for a part of it: {names}. Is there a ResourceQuota?")
    nowhere = [wait.pod for wait in rest if _cannot_fall_back(view, wait)]
    if nowhere:
        found.append(
            f"{counted(len(nowhere), 'pod')} can fall back nowhere:"
            f" give the pool an on-demand twin with {TWIN} above 0."
        )
    implied = [wait for wait in rest if wait.bound and not wait.unexpected]
    if implied:
        most = max(implied, key=lambda wait: wait.length).bound or Bound(0.0, 0)
        found.append(f"The settings imply up to {span(most.length)}: {terms(view, most)}.")
    if unknown := [wait.pod.name for wait in rest if wait.unexpected and wait.pod not in nowhere]:
        found.append(f"Nothing explains {first(unknown)}.")
    return found


def _cannot_fall_back(view: View, wait: Wait) -> bool:
    pod = wait.pod
    if not (wait.unexpected and pod.spot and pod.gpus):
        return False
    return all(twin.most == 0 for twin in view.twins_for(pod))


def held_text(measured: list[Wait]) -> str:
    """Say why pods waited longer than one provision time a pool; empty without such pods."""
    held = [wait for wait in measured if wait.bound and (wait.bound.restarted or wait.bound.again)]
    if not held:
        return ""
    most = max(held, key=lambda wait: wait.length).bound or Bound(0.0, 0)
    why = []
    if most.restarted:
        further = counted(most.restarted, "further request")
        why.append(f"{further} for the same pool restarted its timer")
    if most.again:
        why.append(
            f"{counted(most.again, 'request')} came again, because the back-off of a pool"
            " (5 min at first) was over while another was waited for"
        )
    return (
        f"{counted(len(held), 'pod')} waited longer than one provision time a pool:"
        f" {', and '.join(why)}; so the bound that holds is {span(most.length)}."
    )


def terms(view: View, most: Bound) -> str:
    """Write the terms of a pod's bound: `30 s + 10 min provision time + 10 s scan + ...`."""
    provision, scan = view.setting("maxNodeProvisionTime"), view.setting("scanInterval")
    stages = most.pools + most.again
    times = "" if stages < 2 else f"{stages} x "
    parts = [f"{GPU_AGE:.0f} s age of GPU pods"]
    if stages:
        parts.append(f"{times}{span(provision or 0)} provision time")
    if most.restarted:
        parts[-1] += f" restarted {most.restarted} times"
    registration, retry = span(most.extra - RETRY), f"{RETRY:.0f} s retry of the scheduler"
    return " + ".join(
        [*parts, f"{times}{span(scan or 0)} scan", f"{registration} registration", retry]
    )


def fallback(view: View, measured: list[Wait]) -> Verdict:
    """Judge the longest wait of pods that fell back, against the accepted one."""
    name = "Time to fall back"
    dropped = fallen(view, measured)
    if not dropped:
        return Verdict(name, None, "no pod fell back", "", "Spot took all pods that may run there.")
    worst = max(dropped, key=lambda wait: wait.length)
    text = f"{span(worst.length)} at most, {counted(len(dropped), 'pod')}"
    well = "Every pod ran on demand within what the settings imply."
    return _judged(view, name, text, dropped, well)


def fallen(view: View, measured: list[Wait]) -> list[Wait]:
    """Return the waits of pods that may run on spot, and got a node on demand or none."""
    return [wait for wait in measured if wait.pod.spot and wait.pod.gpus and _fell(view, wait.pod)]


def _fell(view: View, pod: Pod) -> bool:
    """Return whether a pod got a node on demand, or none although its time is over."""
    if pod.pool in view.pools:
        return view.pools[pod.pool].capacity == "on-demand"
    allowed = bound(view, pod)
    return allowed is not None and wait_end(view, pod) - view.due(pod) > allowed.length


def full_pools(view: View, measured: list[Wait]) -> Verdict:
    """Note the pods that waited for a pool at its maximum: a setting to look at, and no fault."""
    name = "Pools at their maximum"
    held = [wait for wait in measured if wait.full]
    if not held:
        why = "No maximum held work back beyond its bound."
        if view.setting("maxNodeProvisionTime") is None:
            why = (
                "No pod waited while all pools that may take it"
                " were at their maximum or backed off."
            )
        return Verdict(name, True, "no pod waited for one", "", why)
    names = sorted({name for wait in held for name in wait.full.split(", ")})
    limits = ", ".join(f"{pool} at {view.pools[pool].most} nodes" for pool in names)
    most = span(max(wait.length for wait in held))
    text = f"{limits}: {counted(len(held), 'pod')} waited, up to {most}"
    return Verdict(name, None, text, "", f"More nodes: raise {TWIN}, or accept the wait.")
