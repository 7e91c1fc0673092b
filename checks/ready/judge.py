"""All checks of a cluster, in the order of the report."""

from __future__ import annotations

from collections.abc import Iterable

from checks.check import Check
from checks.findings import Finding
from checks.ready.checks import drains, growth, kubernetes, mesh, placement, pools, room
from checks.ready.cluster import Cluster
from checks.ready.intent import Intent
from checks.ready.snapshot import Snapshot

CHECKS: tuple[Check[Cluster], ...] = (
    *kubernetes.CHECKS,
    *room.CHECKS,
    *placement.CHECKS,
    *pools.CHECKS,
    *growth.CHECKS,
    *mesh.CHECKS,
    *drains.CHECKS,
)


def findings(
    snapshot: Snapshot, more: Iterable[Check[Cluster]] = (), intent: Intent | None = None
) -> list[Finding]:
    """Return the findings of all checks and of `more`; a pure function of the snapshot."""
    cluster = Cluster(snapshot, intent)
    return [finding for check in (*CHECKS, *more) for finding in check.findings(cluster)]
