"""Rules of Prometheus: an alert, a recording rule, and the group that holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["critical", "warning", "info"]
"""`critical`: wakes somebody; `warning`: a ticket for the day; `info`: shown on the dashboard."""

GROUP = "kubeflow-spot"
INTERVAL = 60
"""Seconds between two evaluations of a group."""


@dataclass(frozen=True)
class Recording:
    """A recording rule: `Recording("kubeflow_spot:pool_nodes:count", "count by (pool) (...)")`."""

    record: str
    expr: str
    labels: Mapping[str, str] = field(default_factory=dict)

    def as_rule(self) -> dict[str, Any]:
        """Return the rule as Prometheus reads it."""
        labels = {"labels": dict(self.labels)} if self.labels else {}
        return {"record": self.record, "expr": self.expr, **labels}


@dataclass(frozen=True, kw_only=True)
class Alert:
    """An alerting rule: what is wrong, for how long, and what that means for users."""

    name: str
    expr: str
    seconds: int
    """The expression must hold so long."""
    severity: Severity
    summary: str
    meaning: str
    """What users notice."""
    labels: Mapping[str, str] = field(default_factory=dict)

    def as_rule(self, runbooks: str) -> dict[str, Any]:
        """Return the rule as Prometheus reads it; `runbooks` is the address of the runbooks."""
        return {
            "alert": self.name,
            "expr": self.expr,
            "for": f"{self.seconds}s",
            "labels": {"severity": self.severity, **self.labels},
            "annotations": {
                "summary": self.summary,
                "description": self.meaning,
                "runbook_url": f"{runbooks}#{self.name.lower()}",
            },
        }


def group(
    recordings: Iterable[Recording], alerts: Iterable[Alert], runbooks: str
) -> dict[str, Any]:
    """Return the rule group that Prometheus reads: recording rules first, as alerts use them."""
    rules = [*(each.as_rule() for each in recordings), *(each.as_rule(runbooks) for each in alerts)]
    return {"name": GROUP, "interval": f"{INTERVAL}s", "rules": rules}
