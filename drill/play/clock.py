"""The drill's clock: jumps from one event to the next, and lets the real programs finish their part at each."""

import heapq
import time
from collections.abc import Callable
from itertools import count

Action = Callable[[], None]


class Clock:
    """A discrete clock in seconds from 0. With a `factor` it goes at most so many times faster than real time."""

    def __init__(self, factor: float | None = None) -> None:
        self.now = 0.0
        self.factor = factor
        self._began = time.monotonic()
        self._numbers = count()
        self._due: list[tuple[float, int, Action]] = []

    def at(self, when: float, action: Action) -> None:
        """Do something at a time; a time that has passed is now."""
        heapq.heappush(self._due, (max(when, self.now), next(self._numbers), action))

    def after(self, seconds: float, action: Action) -> None:
        """Do something in so many seconds."""
        self.at(self.now + seconds, action)

    def resume(self) -> None:
        """Real time counts from here on: what was spent until now was no time of the drill's."""
        self._began = time.monotonic() - self.now / (self.factor or 1.0)

    def upcoming(self) -> float | None:
        """The time of the next event; None without any."""
        return self._due[0][0] if self._due else None

    def run(self, until: float, settle: Action) -> None:
        """Do everything that is due before `until`; `settle` is called when all events of one time are done."""
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
