"""Waits of pods, and the longest wait that the settings imply."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.drill.checks.rounds import given_up, in_turn
from sandbox.drill.checks.spans import counted, span
from sandbox.drill.checks.verdict import Verdict, first
from sandbox.drill.checks.view import View
from sandbox.drill.record import Pod, Pool

GPU_AGE = 30.0
"""Seconds that the oldest pending GPU pod must be old; it holds other pods back too (recorded on cluster-autoscaler 1.36.1)."""

RETRY = 10.0
"""Seconds for which the scheduler may leave a pod alone before it tries again (podMaxBackoffSeconds of kube-scheduler, 10)."""

PROVISION, SCAN = 900.0, 10.0
"""Seconds: cluster-autoscaler's own `--max-node-provision-time` and `--scan-interval` (its FAQ, v1.36). What GKE has is not
published."""

TWIN = "fallback[].onDemand.maxNodes"


@dataclass(frozen=True)
class Wait:
    """The wait of one pod for a node, in seconds. That of a piece of work's first pod begins when the work may have a pod."""

    pod: Pod
    length: float
    allowed: float | None
    """The longest wait that the settings imply; None on GKE, whose timers are not published."""
    restarted: int
    """How often a further request restarted the timer of a pool that the pod waited for."""
    full: str
    """The pools at their maximum that the pod waited for; empty where it waited for something else."""
    again: int = 0
    """How often a pool was asked once more because its back-off was over before the chain's last pool had its turn."""

    @property
    def late(self) -> bool:
        return self.allowed is not None and self.length > self.allowed and not self.full


def waits(view: View) -> list[Wait]:
    """The waits of all pods; those without a node wait until they ended, or until the end of the drill."""
    return [wait for pod in view.record.pods if (wait := _wait(view, pod)) is not None]


def _until(view: View, pod: Pod) -> float:
    return pod.bound if pod.bound is not None else pod.ended if pod.ended is not None else view.end


def _length(view: View, pod: Pod) -> float:
    return _until(view, pod) - view.due(pod)


def _wait(view: View, pod: Pod) -> Wait:
    length, plain = _length(view, pod), allowed(view, pod)
    if plain is None:
        return Wait(pod, length, None, 0, excuse(view, pod) if length > _quick(view, pod) else "")
    if length <= plain:
        return Wait(pod, length, plain, 0, "")
    bound, restarted, again = longer(view, pod)
    if bound <= plain:
        bound, restarted, again = plain, 0, 0
    full = excuse(view, pod) if length > bound else ""
    return Wait(pod, length, bound, restarted, full, again)


def _stages(view: View, pod: Pod) -> list[Pool]:
    """The spot pools that are tried one after another before a pod gets a node on demand.

    Those of the longest chain to its pool; and those of other chains whose on-demand pool was full when the pod came.
    """
    if not pod.spot or not pod.gpus:
        return []
    twin = view.pools.get(pod.pool or "")
    twins = [twin] if twin is not None and twin.capacity == "on-demand" else view.twins_for(pod)
    own = max(
        (chain for each in twins for chain in view.chains(pod, each.name)), key=len, default=view.spot_for(pod)[:1]
    )
    if not pod.reach:
        return own
    passed = [each for each in view.twins_for(pod) if each not in twins and view.full(each, pod.created)]
    others = [pool for each in passed for chain in view.chains(pod, each.name) for pool in chain]
    return list({pool.name: pool for pool in (*others, *own)}.values())


def _extra(view: View, pod: Pod) -> float:
    """Seconds that every pod may wait beside timers: the registration of its node, and the scheduler's retry."""
    pool = view.pools.get(pod.pool or "")
    return view.registration([pool] if pool is not None else view.twins_for(pod)) + RETRY


def allowed(view: View, pod: Pod) -> float | None:
    """Seconds: 30 s, then the provision time and one scan for each spot pool that never comes, then registration.

    A pod that nothing of this concerns waits for one scan and the registration. None on GKE.
    """
    provision, scan = view.setting("maxNodeProvisionTime"), view.setting("scanInterval")
    if provision is None or scan is None:
        return None
    stages = len(_stages(view, pod))
    return GPU_AGE + max(1, stages) * scan + stages * provision + _extra(view, pod)


def _quick(view: View, pod: Pod) -> float:
    """Seconds that a pod waits where a pool can grow at once. GKE publishes no timers: those of AKS' scans count."""
    return GPU_AGE + (view.setting("scanInterval") or SCAN) + _extra(view, pod)


def due(view: View, pod: Pod) -> float:
    """Seconds after which a pod without a node waits too long: its bound; on GKE the same with cluster-autoscaler's own timers."""
    bound = allowed(view, pod)
    if bound is not None:
        return bound
    stages = len(_stages(view, pod))
    return _quick(view, pod) + stages * PROVISION + max(0, stages - 1) * SCAN


def longer(view: View, pod: Pod) -> tuple[float, int, int]:
    """The wait that a pod may have for requests that were made, how many restarted a pool's timer, and how many came again.

    A request that is renewed before it times out is given up only after the last (recorded: 265 s in place of 90 s). A pool is
    asked again when its back-off is over before the pools behind it were all given up.
    """
    provision, scan = view.setting("maxNodeProvisionTime"), view.setting("scanInterval")
    if provision is None or scan is None:
        return 0.0, 0, 0
    at, restarted, again = view.due(pod) + GPU_AGE, 0, 0
    stages = _stages(view, pod)
    for turn, pool in enumerate(in_turn(stages, provision + scan)):
        end, further = given_up(view.requests.get(pool.name, []), at, provision)
        again += turn >= len(stages) and end > at
        at, restarted = max(at, end) + scan, restarted + further
    return at - view.due(pod) + _extra(view, pod), restarted, again


def excuse(view: View, pod: Pod) -> str:
    """The pools at their maximum for which a pod waits or waited, when its time was over; empty if there are none.

    A pool whose maximum is 0 excuses nothing: nothing can ever come from it.
    """
    plain = allowed(view, pod)
    pools = view.twins_for(pod) if pod.spot else _own(view, pod)
    bound = _quick(view, pod) if plain is None else max(plain, longer(view, pod)[0])
    at = min(pod.created + bound, view.end)
    if plain is None and not all(view.closed(pool, at) for pool in view.spot_for(pod)):
        return ""  # It may have waited for spot: nothing says how long it may.
    if not pools or not all(view.full(pool, at) for pool in pools):
        return ""
    return ", ".join(pool.name for pool in pools if pool.most)


def _own(view: View, pod: Pod) -> list[Pool]:
    """The on-demand pools that can hold a pod which may not run on spot: with GPUs only for one that asks for them."""
    return [
        pool
        for pool in view.record.pools
        if pool.capacity == "on-demand"
        and pool.most is not None
        and (pool.gpus >= pod.gpus if pod.gpus else not pool.gpus)
    ]


def longest(view: View, measured: list[Wait]) -> Verdict:
    """The longest wait of any pod for a node."""
    name, bound = "Longest wait for a node", _bound(view, measured)
    if not measured:
        return Verdict(name, None, "no pod", bound, "The scenario has no pods.")
    worst = max(measured, key=lambda wait: wait.length)
    text = f"{span(worst.length)} ({worst.pod.name})" + (
        "" if worst.pod.bound is not None else ", still without a node"
    )
    late = [wait for wait in measured if wait.late]
    if late:
        why = f"{counted(len(late), 'pod')} waited longer than the settings imply."
        if absent := [wait.pod.name for wait in late if wait.pod.created - view.due(wait.pod) > RETRY]:
            why += f" Their work had no pod for a part of it: {first(absent)}. Is there a ResourceQuota?"
        return Verdict(name, False, text, bound, why)
    if worst.allowed is None:
        return Verdict(
            name, None, text, bound, "Google publishes no timers of its autoscaler: nothing bounds the wait."
        )
    if worst.full:
        return Verdict(
            name,
            True,
            text,
            bound,
            f"It waited for {worst.full}, at its maximum. Every other wait is within the bound.",
        )
    return Verdict(name, True, text, bound, held_text(measured) or "Every wait is within the bound.")


def held_text(measured: list[Wait]) -> str:
    """The sentence about pods that waited longer than each pool's time, and why; empty without such pods."""
    held = [wait for wait in measured if wait.restarted or wait.again]
    if not held:
        return ""
    most = max(held, key=lambda wait: wait.length)
    why = []
    if most.restarted:
        why.append(f"{counted(most.restarted, 'further request')} for the same pool restarted its timer")
    if most.again:
        why.append(
            f"{counted(most.again, 'request')} came again, because the back-off of a pool (5 min at first) was over while another"
            " was waited for"
        )
    return (
        f"{counted(len(held), 'pod')} waited longer than one provision time a pool: {', and '.join(why)}; so the bound that holds"
        f" is {span(most.allowed or 0)}."
    )


def _bound(view: View, measured: list[Wait]) -> str:
    """The longest bound that holds for any pod, with its terms."""
    bounds = [wait for wait in measured if wait.allowed is not None]
    if not bounds:
        return ""
    most = max(bounds, key=lambda wait: wait.allowed or 0)
    return f"{span(most.allowed or 0)}: {terms(view, most)}"


def terms(view: View, wait: Wait) -> str:
    """The terms of a pod's bound: `30 s + 10 min provision time + 10 s scan + ...`."""
    provision, scan = view.setting("maxNodeProvisionTime"), view.setting("scanInterval")
    stages = len(_stages(view, wait.pod)) + wait.again
    parts = [f"{GPU_AGE:.0f} s age of GPU pods"]
    if stages:
        parts.append(("" if stages == 1 else f"{stages} x ") + f"{span(provision or 0)} provision time")
    if wait.restarted:
        parts[-1] += f" restarted {wait.restarted} times"
    parts.append(("" if stages < 2 else f"{stages} x ") + f"{span(scan or 0)} scan")
    extra = _extra(view, wait.pod)
    return " + ".join([*parts, f"{span(extra - RETRY)} registration", f"{RETRY:.0f} s retry of the scheduler"])


def fallback(view: View, measured: list[Wait]) -> Verdict:
    """The longest wait of a pod that may run on spot and got a node on demand, against the bound that the settings imply."""
    name = "Time to fall back"
    dropped = fallen(view, measured)
    if not dropped:
        return Verdict(name, None, "no pod fell back", "", "Spot took all pods that may run there.")
    bound, worst = _bound(view, dropped), max(dropped, key=lambda wait: wait.length)
    text = f"{span(worst.length)} at most, {counted(len(dropped), 'pod')}"
    late = [wait for wait in dropped if wait.late]
    if late:
        nothing = [wait.pod.name for wait in late if not any(twin.most != 0 for twin in view.twins_for(wait.pod))]
        why = f"Longer than the settings imply: {first([wait.pod.name for wait in late])}."
        if nothing:
            why += f" {counted(len(nothing), 'pod')} can fall back nowhere: give the pool an on-demand twin with {TWIN} above 0."
        return Verdict(name, False, text, bound, why)
    if worst.allowed is None:
        return Verdict(
            name, None, text, bound, "Google publishes no timers of its autoscaler: nothing bounds the time."
        )
    if worst.full:
        return Verdict(name, True, text, bound, f"Beyond the bound, pods waited for {worst.full} at its maximum.")
    return Verdict(name, True, text, bound, held_text(dropped) or "Every pod ran on demand within the bound.")


def fallen(view: View, measured: list[Wait]) -> list[Wait]:
    """The waits of pods that may run on spot, and got a node on demand or none at all."""
    return [wait for wait in measured if wait.pod.spot and wait.pod.gpus and _fell(view, wait.pod)]


def _fell(view: View, pod: Pod) -> bool:
    """Whether a pod got a node on demand, or none although its time is over."""
    if pod.pool in view.pools:
        return view.pools[pod.pool].capacity == "on-demand"
    bound = allowed(view, pod)
    return bound is not None and _length(view, pod) > bound


def full_pools(view: View, measured: list[Wait]) -> Verdict:
    """Pods that waited for a pool at its maximum: no fault, but a setting to look at."""
    name = "Pools at their maximum"
    held = [wait for wait in measured if wait.full]
    if not held:
        why = "No maximum held work back beyond its bound."
        if view.setting("maxNodeProvisionTime") is None:
            why = "No pod waited while all pools that may take it were at their maximum or backed off."
        return Verdict(name, True, "no pod waited for one", "", why)
    names = sorted({name for wait in held for name in wait.full.split(", ")})
    limits = ", ".join(f"{pool} at {view.pools[pool].most} nodes" for pool in names)
    most = max(wait.length for wait in held)
    return Verdict(
        name,
        None,
        f"{limits}: {counted(len(held), 'pod')} waited, up to {span(most)}",
        "",
        f"More nodes: raise {TWIN}, or accept the wait.",
    )
