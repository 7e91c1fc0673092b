"""When pools were left alone because they could not grow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from drill.world.record import Event

FIRST, LONGEST = 300.0, 1800.0
"""Seconds: a failed group's back-off doubles from the first to the longest (cluster-autoscaler's
--initial-node-group-backoff-duration and --max-node-group-backoff-duration)."""
FORGOTTEN = 3 * 3600.0
"""A group that did not fail for so many seconds begins anew (--node-group-backoff-reset-timeout)."""


def backoffs(events: Iterable[Event]) -> dict[str, list[tuple[float, float]]]:
    """Begin and end of each back-off, by pool.

    The events have the begins; the ends follow from the rule of cluster-autoscaler 1.36 (utils/backoff): a failure after a back-off
    doubles it, one within a back-off lets the same time begin again.
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
