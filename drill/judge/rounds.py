"""How long pools that stay silent are asked, one after another, before the pool behind them gets its turn."""

from __future__ import annotations

from drill.judge.backoffs import FIRST, LONGEST
from drill.world.record import Pool

_DAY = 24 * 3600.0


def in_turn(pools: list[Pool], step: float) -> list[Pool]:
    """The order in which silent pools are asked, `step` seconds each, until all of them are backed off at once.

    A pool whose back-off is over comes before those behind it, so the first of two is asked again where `step` is longer than its
    back-off. Pools that still go round after a day are listed once: nobody waits for an end that does not come.
    """
    until, lengths = dict.fromkeys(range(len(pools)), 0.0), dict.fromkeys(range(len(pools)), FIRST)
    now, order = 0.0, []
    while free := [index for index, end in until.items() if end <= now]:
        if now > _DAY:
            return pools
        asked, now = free[0], now + step
        until[asked], lengths[asked] = now + lengths[asked], min(2 * lengths[asked], LONGEST)
        order.append(pools[asked])
    return order


def given_up(requests: list[float], since: float, provision: float) -> tuple[float, int]:
    """The time-out of the series of requests that runs at a moment or begins next, and the requests after its first."""
    last, further = None, 0
    for request in requests:
        if last is not None and request <= last + provision:
            last, further = request, further + 1
            continue
        if last is not None and last + provision >= since:
            break
        if request > since + provision:
            break  # made for others: the pod's own request is long over
        last, further = request, 0
    if last is None or last + provision < since:
        return since, 0
    return last + provision, further
