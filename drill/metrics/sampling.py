"""Samples of a drill, a minute apart by its clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from drill.metrics.kube_state import KubeStateMetrics
from drill.metrics.samples import Samples
from drill.play.clock import Clock
from drill.play.observed import Observed
from drill.world import record
from sandbox.autoscaler.api import ApiServer
from sandbox.cluster.control_plane import ControlPlane

Counters = Callable[[Sequence[record.Event]], Mapping[str, float]]
"""Series that follow from the drill's events so far."""

_AFTER = 0.031
"""Seconds after the full minute: then nothing else happens, and the cluster is at rest."""


class Sampling:
    """`Sampling(program, plane, api, folder, counters)`; `plan` before the drill runs, `stop`
    after it."""

    def __init__(
        self,
        program: Path,
        plane: ControlPlane,
        api: ApiServer,
        folder: Path,
        counters: Counters | None = None,
    ) -> None:
        self.samples = Samples()
        self._api = api
        self._counters = counters
        self._metrics = KubeStateMetrics(program, plane, folder)
        self._values: dict[str, float] = {}
        self._seen = -1

    def plan(
        self, clock: Clock, observed: Observed, events: Sequence[record.Event], length: float
    ) -> None:
        """Start the program and plan a sample each minute."""
        self._metrics.start()
        for number in range(int(length // self.samples.interval)):
            at = number * self.samples.interval + _AFTER
            clock.at(at, lambda: self._sample(observed, events))

    def stop(self) -> None:
        """End the program."""
        self._metrics.stop()

    def _sample(self, observed: Observed, events: Sequence[record.Event]) -> None:
        if observed.changes != self._seen:
            self._values = self._metrics.read(self._api)
            self._seen = observed.changes
        counted = self._counters(events) if self._counters else {}
        self.samples.add({**self._values, **counted})
