"""The longest wait that the settings imply for a pod, and whether a spot pool could grow."""

from __future__ import annotations

from dataclasses import dataclass

from drill.judge.turns import given_up, in_turn
from drill.judge.view import View
from drill.world.record import Pod, Pool

GPU_AGE = 30.0
"""The least age of the oldest pending GPU pod in seconds; other pods wait for it too (recorded on
cluster-autoscaler 1.36.1)."""

RETRY = 10.0
"""Seconds until the scheduler tries a pod again (podMaxBackoffSeconds of kube-scheduler, 10)."""

PROVISION, SCAN = 900.0, 10.0
"""Seconds: cluster-autoscaler's own `--max-node-provision-time` and `--scan-interval` (its FAQ,
v1.36). GKE publishes neither."""

UNHEALTHY = "unhealthy"


def can_grow(view: View, pool: Pool, at: float) -> bool:
    """Return whether the autoscaler could get a spot node at a moment."""
    return view.room(pool, at) > 0 and passed_over(view, pool, at) == ""


def passed_over(view: View, pool: Pool, at: float) -> str:
    """Return why the autoscaler passes over a spot pool at a moment; empty without a reason."""
    scan = view.setting("scanInterval") or SCAN
    if view.full(pool, at):
        return "at its maximum"
    if view.backed_off_until(pool.name, at) is not None:
        return "backed off"
    if view.refused(pool.name, at, 2 * scan):
        return "refused"
    if view.unready(pool.name, at) > (view.setting("okTotalUnreadyCount") or 3):
        return UNHEALTHY
    return ""


@dataclass(frozen=True)
class Bound:
    """A wait in seconds, and its parts."""

    length: float
    pools: int
    """The number of spot pools that are asked for the pod, each once."""
    again: int = 0
    """Requests to a pool whose back-off was over before the others were given up."""
    restarted: int = 0
    """Further requests that restarted a pool's timer."""
    extra: float = RETRY
    """Seconds of every pod beside timers: its node's registration and the scheduler's retry."""


def wait_end(view: View, pod: Pod) -> float:
    """Return the end of a pod's wait: it got a node, ended without one, or the drill ended."""
    return pod.bound if pod.bound is not None else pod.ended if pod.ended is not None else view.end


def bound(view: View, pod: Pod) -> Bound | None:
    """Return the longest wait that the settings imply. None on GKE, which publishes no timers.

    30 s, then the provision time and one scan for each spot pool that never comes, then
    registration. Other pods wait for one scan and the registration. If that was not enough, the
    requests that were made count: one that is renewed before it times out is given up only after
    the last (recorded: 265 s in place of 90 s), a pool is asked again when its back-off is over,
    and a pod that finds an on-demand pool full goes through the spot pools before another one.
    """
    plain = _plain(view, pod)
    if plain is None or wait_end(view, pod) - view.due(pod) <= plain.length:
        return plain
    longer = _of_requests(view, pod, plain, _stages(view, pod))
    if pod.reach and _passed(view, pod):
        other = _of_requests(view, pod, plain, _all_stages(view, pod))
        longer = max(longer, other, key=lambda each: each.length)
    return max(plain, longer, key=lambda each: each.length)


def _plain(view: View, pod: Pod) -> Bound | None:
    provision, scan = view.setting("maxNodeProvisionTime"), view.setting("scanInterval")
    if provision is None or scan is None:
        return None
    stages, extra = len(_stages(view, pod)), _extra(view, pod)
    return Bound(GPU_AGE + max(1, stages) * scan + stages * provision + extra, stages, extra=extra)


def _of_requests(view: View, pod: Pod, plain: Bound, stages: list[Pool]) -> Bound:
    provision = view.setting("maxNodeProvisionTime") or PROVISION
    scan = view.setting("scanInterval") or SCAN
    at, restarted, again = view.due(pod) + GPU_AGE, 0, 0
    for turn, pool in enumerate(in_turn(stages, provision + scan)):
        end, further = given_up(view.requests.get(pool.name, []), at, provision)
        again += turn >= len(stages) and end > at
        at, restarted = max(at, end) + scan, restarted + further
    return Bound(at - view.due(pod) + plain.extra, len(stages), again, restarted, plain.extra)


def quick(view: View, pod: Pod) -> float:
    """Return the seconds of a wait for a pool that grows at once; on GKE by AKS' scan interval."""
    return GPU_AGE + (view.setting("scanInterval") or SCAN) + _extra(view, pod)


def longest_due(view: View, pod: Pod) -> float:
    """Return the longest wait in seconds; on GKE by cluster-autoscaler's own timers."""
    found = bound(view, pod)
    if found is not None:
        return found.length
    requests = len(in_turn(_stages(view, pod), PROVISION + SCAN))
    return quick(view, pod) + requests * PROVISION + max(0, requests - 1) * SCAN


def excuse(view: View, pod: Pod) -> str:
    """Name the pools at their maximum for which a pod waited when its time was over.

    Empty while a spot pool could have grown. A pool whose maximum is 0 excuses nothing.
    """
    found = bound(view, pod)
    pools = view.twins_for(pod) if pod.spot else _own(view, pod)
    over = min(pod.created + (quick(view, pod) if found is None else found.length), view.end)
    last = max(over, wait_end(view, pod) - quick(view, pod))
    # On GKE the wait for spot before is unknown.
    moments = (last,) if found is None else (over, last)
    if not pools or not all(view.full(pool, at) for pool in pools for at in moments):
        return ""
    if any(_has_room(view, pool, last) for pool in view.spot_for(pod)):
        return ""
    return ", ".join(pool.name for pool in pools if pool.most)


def _has_room(view: View, pool: Pool, at: float) -> bool:
    """Return whether a spot pool should have grown; unready nodes are no reason against it."""
    if view.room(pool, at) <= 0 or view.booting(pool.name, at):
        return False
    return passed_over(view, pool, at) in ("", UNHEALTHY)


def _own(view: View, pod: Pod) -> list[Pool]:
    """List the autoscaled on-demand pools for a pod that may not run on spot."""
    pools = [pool for pool in view.record.pools if pool.capacity == "on-demand"]
    fitting = [pool for pool in pools if (pool.gpus >= pod.gpus if pod.gpus else not pool.gpus)]
    return [pool for pool in fitting if pool.most is not None]


def _twins(view: View, pod: Pod) -> list[Pool]:
    """Return the on-demand pool of a pod that fell back; otherwise all to which it may."""
    twin = view.pools.get(pod.pool or "")
    return [twin] if twin is not None and twin.capacity == "on-demand" else view.twins_for(pod)


def _stages(view: View, pod: Pod) -> list[Pool]:
    """List the spot pools that are tried before a pod gets a node on demand.

    These are the pools of the longest chain to its pool, and of other chains whose on-demand pool
    was full when the pod came.
    """
    if not pod.spot or not pod.gpus:
        return []
    twins = _twins(view, pod)
    chains = (chain for each in twins for chain in view.chains(pod, each.name))
    own = max(chains, key=len, default=view.spot_for(pod)[:1])
    if not pod.reach:
        return own
    passed = [
        each for each in view.twins_for(pod) if each not in twins and view.full(each, pod.created)
    ]
    others = [pool for each in passed for chain in view.chains(pod, each.name) for pool in chain]
    return list({pool.name: pool for pool in (*others, *own)}.values())


def _all_stages(view: View, pod: Pod) -> list[Pool]:
    """List the spot pools before any on-demand pool of a pod, in the order of the stack file."""
    names = {
        pool.name
        for twin in view.twins_for(pod)
        for chain in view.chains(pod, twin.name)
        for pool in chain
    }
    return [pool for pool in view.record.pools if pool.name in names]


def _passed(view: View, pod: Pod) -> bool:
    """Return whether an on-demand pool of a pod was full at some moment of its wait."""
    since, end = view.due(pod), wait_end(view, pod)
    for pool in view.twins_for(pod):
        later = [at for at in view.requests.get(pool.name, ()) if since < at < end]
        if any(view.full(pool, at) for at in (since, *later)):
            return True
    return False


def _extra(view: View, pod: Pod) -> float:
    pool = view.pools.get(pod.pool or "")
    pools = [pool] if pool is not None else view.twins_for(pod)
    return view.registration(pools, view.due(pod), wait_end(view, pod)) + RETRY
