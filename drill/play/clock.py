"""The drill's clock: jumps from event to event, and lets the real programs finish at each."""

import heapq
import time
from collections.abc import Callable
from itertools import count

Action = Callable[[], None]


class Clock:
    """A discrete clock in seconds from 0: `Clock(factor=5).run(3600, settle)`.

    With a `factor` it goes at most so many times as fast as real time.
    """

    def __init__(self, factor: float | None = None) -> None:
        self.now = 0.0
        self.factor = factor
        self._began = time.monotonic()
        self._numbers = count()
        self._due: list[tuple[float, int, Action]] = []

    def at(self, when: float, action: Action) -> None:
        """Do something at a time, or now if that has passed."""
        heapq.heappush(self._due, (max(when, self.now), next(self._numbers), action))

    def after(self, seconds: float, action: Action) -> None:
        """Do something in so many seconds."""
        self.at(self.now + seconds, action)

    def resume(self) -> None:
        """Count real time from here on, without the seconds that were spent before."""
        self._began = time.monotonic() - self.now / (self.factor or 1.0)

    def run(self, until: float, settle: Action) -> None:
        """Do everything that is due until `until`; call `settle` after the events of one time."""
        while self._due and self._due[0][0] <= until:
            self._wait(self._due[0][0])
            self.now = self._due[0][0]
            while self._due and self._due[0][0] <= self.now:
                heapq.heappop(self._due)[2]()
            settle()
        self._wait(until)
        self.now = until

    def _wait(self, until: float) -> None:
        if self.factor is not None:
            time.sleep(max(0.0, self._began + until / self.factor - time.monotonic()))
