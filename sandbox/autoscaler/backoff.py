"""Back-off: groups that failed to grow are left alone for a while.

cluster-autoscaler 1.36.1, utils/backoff/exponential_backoff.go; recordings spot-never-ready-*. A later success does not end or
shorten a back-off: only time does (clusterstate.go no longer removes it).
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from sandbox.autoscaler.autoscaler_options import SLACK, Options


@dataclass(frozen=True)
class _Pause:
    until: float
    length: float
    failed: float


class BackOff:
    """The back-off of each group. Times are seconds of any one clock; those of `options` are divided by its factor."""

    def __init__(self, options: Options | None = None) -> None:
        options = options or Options()
        self._first = options.first_back_off / options.factor
        self._longest = options.longest_back_off / options.factor
        self._forgotten = options.back_off_forgotten / options.factor
        self._pauses: dict[str, _Pause] = {}

    def failed(self, now: float, group: str) -> float:
        """Leave a group alone, twice as long as after its last failure; until when. A failure during a pause does not double."""
        before = self._pauses.get(group)
        if before is None or now - before.failed > self._forgotten:
            length = self._first
        else:
            length = before.length if now < before.until else min(2 * before.length, self._longest)
        self._pauses[group] = _Pause(now + length, length, now)
        return now + length

    def groups(self, now: float) -> Set[str]:
        """The groups that are left alone now."""
        return {group for group, pause in self._pauses.items() if now < pause.until - SLACK}

    def ends(self, now: float) -> float:
        """The first time at which a back-off ends; inf for none."""
        return min((pause.until for pause in self._pauses.values() if now < pause.until - SLACK), default=float("inf"))
