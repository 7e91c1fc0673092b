"""The longest wait that the settings imply for a pod."""

from __future__ import annotations

from dataclasses import dataclass

from drill.judge.rounds import given_up, in_turn
from drill.judge.spot import UNHEALTHY, at_hand
from drill.judge.view import View
from drill.world.record import Pod, Pool

GPU_AGE = 30.0
"""Seconds that the oldest pending GPU pod must be old; it holds other pods back too (recorded on cluster-autoscaler 1.36.1)."""

RETRY = 10.0
"""Seconds for which the scheduler may leave a pod alone before it tries again (podMaxBackoffSeconds of kube-scheduler, 10)."""

PROVISION, SCAN = 900.0, 10.0
"""Seconds: cluster-autoscaler's own `--max-node-provision-time` and `--scan-interval` (its FAQ, v1.36). What GKE has is not
published."""


@dataclass(frozen=True)
class Bound:
    """A wait in seconds, and what it is made of."""

    length: float
    pools: int
    """The spot pools that are asked for the pod, each once."""
    again: int = 0
    """How often one of them was asked once more, because its back-off was over before the others were given up."""
    restarted: int = 0
    """How often a further request restarted the timer of one."""
    extra: float = RETRY
    """The seconds that every pod may wait beside timers: the registration of its node, and the scheduler's retry."""


def until(view: View, pod: Pod) -> float:
    """The moment at which the wait of a pod ended: it got a node, or ended without one, or the drill did."""
    return pod.bound if pod.bound is not None else pod.ended if pod.ended is not None else view.end


def bound(view: View, pod: Pod) -> Bound | None:
    """The longest wait that is as it should be. None on GKE, whose timers are not published.

    30 s, then the provision time and one scan for each spot pool that never comes, then registration. A pod that nothing of this
    concerns waits for one scan and the registration. Where that was not enough, requests that were made count: one that is renewed
    before it times out is given up only after the last (recorded: 265 s in place of 90 s), a pool is asked again when its back-off
    is over, and a pod that passes a full on-demand pool goes through the spot pools before another one.
    """
    plain = _plain(view, pod)
    if plain is None or until(view, pod) - view.due(pod) <= plain.length:
        return plain
    longer = _of_requests(view, pod, plain, _stages(view, pod))
    if pod.reach and _passed(view, pod):
        longer = max(
            longer,
            _of_requests(view, pod, plain, _all_stages(view, pod)),
            key=lambda each: each.length,
        )
    return max(plain, longer, key=lambda each: each.length)


def _plain(view: View, pod: Pod) -> Bound | None:
    provision, scan = view.setting("maxNodeProvisionTime"), view.setting("scanInterval")
    if provision is None or scan is None:
        return None
    stages, extra = len(_stages(view, pod)), _extra(view, pod)
    return Bound(GPU_AGE + max(1, stages) * scan + stages * provision + extra, stages, extra=extra)


def _of_requests(view: View, pod: Pod, plain: Bound, stages: list[Pool]) -> Bound:
    provision, scan = (
        view.setting("maxNodeProvisionTime") or PROVISION,
        view.setting("scanInterval") or SCAN,
    )
    at, restarted, again = view.due(pod) + GPU_AGE, 0, 0
    for turn, pool in enumerate(in_turn(stages, provision + scan)):
        end, further = given_up(view.requests.get(pool.name, []), at, provision)
        again += turn >= len(stages) and end > at
        at, restarted = max(at, end) + scan, restarted + further
    return Bound(at - view.due(pod) + plain.extra, len(stages), again, restarted, plain.extra)


def quick(view: View, pod: Pod) -> float:
    """Seconds that a pod waits where a pool can grow at once. GKE publishes no timers: those of AKS' scans count."""
    return GPU_AGE + (view.setting("scanInterval") or SCAN) + _extra(view, pod)


def due(view: View, pod: Pod) -> float:
    """Seconds after which a pod without a node waits too long: its bound; on GKE the same with cluster-autoscaler's own timers."""
    found = bound(view, pod)
    if found is not None:
        return found.length
    requests = len(in_turn(_stages(view, pod), PROVISION + SCAN))
    return quick(view, pod) + requests * PROVISION + max(0, requests - 1) * SCAN


def excuse(view: View, pod: Pod) -> str:
    """The pools at their maximum for which a pod waits or waited, when its time was over; empty if there are none.

    A pool whose maximum is 0 excuses nothing: nothing can ever come from it. Nor does any while a spot pool could have grown.
    """
    found = bound(view, pod)
    pools = view.twins_for(pod) if pod.spot else _own(view, pod)
    over = min(pod.created + (quick(view, pod) if found is None else found.length), view.end)
    last = max(over, until(view, pod) - quick(view, pod))
    # On GKE nothing says how long it may have waited for spot before.
    moments = (last,) if found is None else (over, last)
    if not pools or not all(view.full(pool, at) for pool in pools for at in moments):
        return ""
    if any(_has_room(view, pool, last) for pool in view.spot_for(pod)):
        return ""
    return ", ".join(pool.name for pool in pools if pool.most)


def _has_room(view: View, pool: Pool, at: float) -> bool:
    """Whether a spot pool should have grown; unready nodes for which the autoscaler passes it over do not count."""
    return (
        view.room(pool, at) > 0
        and at_hand(view, pool, at) in ("", UNHEALTHY)
        and not view.booting(pool.name, at)
    )


def _own(view: View, pod: Pod) -> list[Pool]:
    """The on-demand pools that can hold a pod which may not run on spot: with GPUs only for one that asks for them."""
    return [
        pool
        for pool in view.record.pools
        if pool.capacity == "on-demand"
        and pool.most is not None
        and (pool.gpus >= pod.gpus if pod.gpus else not pool.gpus)
    ]


def _twins(view: View, pod: Pod) -> list[Pool]:
    """The on-demand pool that a pod fell back to; all to which it may, where it has not."""
    twin = view.pools.get(pod.pool or "")
    return [twin] if twin is not None and twin.capacity == "on-demand" else view.twins_for(pod)


def _stages(view: View, pod: Pod) -> list[Pool]:
    """The spot pools that are tried one after another before a pod gets a node on demand.

    Those of the longest chain to its pool; and those of other chains whose on-demand pool was full when the pod came.
    """
    if not pod.spot or not pod.gpus:
        return []
    twins = _twins(view, pod)
    own = max(
        (chain for each in twins for chain in view.chains(pod, each.name)),
        key=len,
        default=view.spot_for(pod)[:1],
    )
    if not pod.reach:
        return own
    passed = [
        each for each in view.twins_for(pod) if each not in twins and view.full(each, pod.created)
    ]
    others = [pool for each in passed for chain in view.chains(pod, each.name) for pool in chain]
    return list({pool.name: pool for pool in (*others, *own)}.values())


def _all_stages(view: View, pod: Pod) -> list[Pool]:
    """The spot pools before any on-demand pool that a pod may use, in the order of the stack file."""
    names = {
        pool.name
        for twin in view.twins_for(pod)
        for chain in view.chains(pod, twin.name)
        for pool in chain
    }
    return [pool for pool in view.record.pools if pool.name in names]


def _passed(view: View, pod: Pod) -> bool:
    """Whether an on-demand pool that a pod may use was full at some moment of its wait."""
    since, end = view.due(pod), until(view, pod)
    return any(
        view.full(pool, at)
        for pool in view.twins_for(pod)
        for at in (since, *(at for at in view.requests.get(pool.name, ()) if since < at < end))
    )


def _extra(view: View, pod: Pod) -> float:
    pool = view.pools.get(pod.pool or "")
    pools = [pool] if pool is not None else view.twins_for(pod)
    return view.registration(pools, view.due(pod), until(view, pod)) + RETRY
