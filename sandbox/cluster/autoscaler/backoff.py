"""Back-off: groups that failed to grow are left alone for a while.

cluster-autoscaler 1.36.1, utils/backoff/exponential_backoff.go, with the defaults of its flags; recordings spot-never-ready-*.
"""

from collections.abc import Set
from dataclasses import dataclass

_FIRST, _LONGEST, _FORGOTTEN = 5 * 60.0, 30 * 60.0, 3 * 3600.0
"""Seconds: --initial-node-group-backoff-duration, --max-node-group-backoff-duration, --node-group-backoff-reset-timeout."""


@dataclass(frozen=True)
class _Pause:
    until: float
    length: float


class BackOff:
    """The back-off of each group. Times are seconds of any one clock; the flags' times are divided by `factor`."""

    def __init__(self, factor: float = 1.0, first: float = _FIRST, longest: float = _LONGEST) -> None:
        self._first, self._longest, self._forgotten = first / factor, longest / factor, _FORGOTTEN / factor
        self._pauses: dict[str, _Pause] = {}

    def failed(self, now: float, group: str) -> None:
        """Leave a group alone, twice as long as after its last failure. A failure during a pause does not count."""
        before = self._pauses.get(group)
        if before is None or before.until + self._forgotten < now:
            length = self._first
        else:
            length = before.length if now < before.until else min(2 * before.length, self._longest)
        self._pauses[group] = _Pause(now + length, length)

    def grew(self, group: str) -> None:
        """Forget the failures of a group that has all requested nodes."""
        self._pauses.pop(group, None)

    def groups(self, now: float) -> Set[str]:
        """The groups that are left alone now."""
        return {group for group, pause in self._pauses.items() if now < pause.until}
