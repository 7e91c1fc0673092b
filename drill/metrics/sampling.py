"""Samples of a drill, a minute apart by its clock."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from drill.metrics.kube_state import KubeStateMetrics
from drill.metrics.samples import Samples
from drill.play.clock import Clock
from drill.play.observed import Observed
from drill.world import record
from sandbox.autoscaler.api import ApiServer
from sandbox.cluster.control_plane import ControlPlane

_AFTER = 0.031
"""Seconds after the full minute: then nothing else happens, and the cluster is at rest."""


class Sampling:
    """`Sampling(program, plane, api, folder)`; `plan` before the drill runs, `stop` after it."""

    def __init__(self, program: Path, plane: ControlPlane, api: ApiServer, folder: Path) -> None:
        self.samples = Samples()
        self._api = api
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
        self.samples.add({**self._values, **_of_the_autoscaler(events)})


def _of_the_autoscaler(events: Sequence[record.Event]) -> dict[str, float]:
    """Return the autoscaler's own counter of refused requests, as its metrics/metrics.go names it.

    kube-state-metrics knows nothing of it, and the sandbox's autoscaler has no such page: the
    drill's events stand in.
    """
    refused = [each.text.lower() for each in events if each.kind in ("failed", "refused")]
    quota = sum("quota" in text for text in refused)
    counts = {"QuotaExceeded": quota, "OutOfResource": len(refused) - quota}
    return {
        f'cluster_autoscaler_failed_scale_ups_total{{reason="{reason}"}}': float(count)
        for reason, count in counts.items()
    }
