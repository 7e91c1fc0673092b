"""Series by the drill's time: a value a minute, kept as runs of equal values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TextIO

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
"""The moment at which a drill's samples begin; its own clock has no date."""


@dataclass
class Samples:
    """All series of a drill: `samples.add({'up{job="x"}': 1.0})` once an interval."""

    interval: int = 60
    """Seconds between two samples."""
    count: int = 0
    """Samples so far."""
    series: dict[str, list[tuple[float | None, int]]] = field(default_factory=dict)
    """Runs of a value and its length by series; None: no sample."""

    def add(self, values: Mapping[str, float]) -> None:
        """Add the next sample."""
        for name in values.keys() - self.series.keys():
            self.series[name] = [(None, self.count)] if self.count else []
        for name, runs in self.series.items():
            value = values.get(name)
            if runs and runs[-1][0] == value:
                runs[-1] = (value, runs[-1][1] + 1)
            else:
                runs.append((value, 1))
        self.count += 1

    def notation(self, name: str) -> str:
        """Return a series in promtool's notation, such as `_x2 1x4 stale _x3`: two without a
        sample, five of 1, four without.

        Prometheus marks a series that its target no longer shows as stale; without the mark it
        would be read for five minutes more.
        """
        return " ".join(self._runs(name))

    def _runs(self, name: str) -> Iterator[str]:
        seen = False
        for value, length in self.series[name]:
            if value is not None:
                yield f"{_exact(value)}x{length - 1}"
            elif not seen:
                yield f"_x{length}"
            else:
                yield "stale" if length == 1 else f"stale _x{length - 1}"
            seen = seen or value is not None

    def write_open_metrics(self, file: TextIO) -> None:
        """Write all samples as OpenMetrics, for `promtool tsdb create-blocks-from openmetrics`."""
        by_metric: dict[str, list[str]] = {}
        for name in sorted(self.series):
            by_metric.setdefault(name.partition("{")[0], []).append(name)
        start = int(BEGIN.timestamp())
        for metric, names in by_metric.items():
            file.write(f"# TYPE {metric} gauge\n")
            for name in names:
                for number, value in self._values(name):
                    file.write(f"{name} {_exact(value)} {start + number * self.interval}\n")
        file.write("# EOF\n")

    def _values(self, name: str) -> Iterator[tuple[int, float]]:
        number = 0
        for value, length in self.series[name]:
            if value is not None:
                yield from ((number + each, value) for each in range(length))
            number += length


def _exact(value: float) -> str:
    """Return a value with all its digits: two versions of an object may differ in the last."""
    return str(int(value)) if value.is_integer() else repr(value)
