"""Turns: when pools are backed off or asked, and when a piece of work may have its first pod."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from drill.world.record import Event, Pod, Pool, Record, Work

FIRST, LONGEST = 300.0, 1800.0
"""Seconds: a failed group's back-off doubles from the first to the longest (cluster-autoscaler's
--initial-node-group-backoff-duration and --max-node-group-backoff-duration)."""
FORGOTTEN = 3 * 3600.0
"""Seconds without a failure after which a group's back-off begins with the first length again
(--node-group-backoff-reset-timeout)."""
_DAY = 24 * 3600.0


def backoffs(events: Iterable[Event]) -> dict[str, list[tuple[float, float]]]:
    """Return the start and end of each back-off, by pool.

    Events have the starts. The ends follow from the rule of cluster-autoscaler 1.36
    (utils/backoff): a failure after a back-off doubles it, a failure within one starts the same
    time again.
    """
    spans: dict[str, list[tuple[float, float]]] = defaultdict(list)
    last: dict[str, tuple[float, float]] = {}
    for event in sorted(events, key=lambda event: event.at):
        if event.kind != "backoff":
            continue
        earlier = spans[event.pool]
        failed, length = last.get(event.pool, (event.at, 0.0))
        if not length or event.at - failed > FORGOTTEN:
            length = FIRST
        elif event.at >= earlier[-1][1]:
            length = min(2 * length, LONGEST)
        begin = earlier.pop()[0] if earlier and event.at < earlier[-1][1] else event.at
        earlier.append((begin, event.at + length))
        last[event.pool] = event.at, length
    return dict(spans)


def in_turn(pools: list[Pool], step: float) -> list[Pool]:
    """Return silent pools in the order in which they are asked, until all are backed off at once.

    Each takes `step` seconds. A pool whose back-off is over comes before the pools behind it, so
    the first is asked again if `step` is longer than its back-off. Pools that still go round after
    a day are listed once: nobody waits for an end that does not come.
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
    """Return the time-out of the requests that run at a moment or follow, and their restarts.

    Requests form a series while each comes before the last one's provision time is over.
    """
    last, further = None, 0
    for request in requests:
        if last is not None and request <= last + provision:
            last, further = request, further + 1
            continue
        if last is not None and last + provision >= since:
            break
        if request > since + provision:
            break  # Made for other pods: this pod's own request is over.
        last, further = request, 0
    if last is None or last + provision < since:
        return since, 0
    return last + provision, further


def first_turns(record: Record) -> dict[str, float]:
    """Return the moment at which each piece's first pod was due, by the pod's name.

    A Job with fewer pods at once than pieces starts the next piece when one has ended.
    """
    first: dict[str, Pod] = {}
    for pod in sorted(record.pods, key=lambda pod: pod.created):
        first.setdefault(pod.work, pod)
    groups: dict[str, list[Work]] = defaultdict(list)
    for work in record.work:
        groups[work.name if work.needs is None else work.name.rpartition("/")[0]].append(work)
    turns = {}
    for group in groups.values():
        ended = sorted(work.finished for work in group if work.finished is not None)
        begun = [work for work in group if work.name in first]
        for number, work in enumerate(sorted(begun, key=lambda work: first[work.name].created)):
            pod = first[work.name]
            before = number - (len(group) if work.at_once is None else work.at_once)
            turn = work.submitted
            if before >= 0:
                turn = ended[before] if before < len(ended) else pod.created
            turns[pod.name] = min(pod.created, max(work.submitted, turn))
    return turns
