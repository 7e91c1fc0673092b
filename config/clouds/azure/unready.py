"""Limits of unready nodes, beyond which AKS' cluster autoscaler stops for every pool
(docs/adr/0023).

It stops if more than `ok-total-unready-count` nodes and more than `max-total-unready-percentage` of
all are unready (kubernetes/autoscaler 1.36.1, clusterstate.go, IsClusterHealthy), lest it empties a
cluster whose nodes it cannot see. With 3 and 45 %, five dead GPU nodes of ten stopped it, and CPU
notebooks waited.

A node counts if it is not ready, has its machine, and is older than 15 minutes
(updateReadinessStats there). A deleted evicted machine counts until its node object goes, about a
minute; a deallocated one keeps its node; a machine that boots and never becomes ready counts from
its sixteenth minute on. A machine unknown to Azure's cache counts (azure_cache.go, HasInstance).
The same limits hold for each pool (IsNodeGroupHealthy): a higher count lets a pool of dead nodes be
asked again, a higher percentage does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from config.clouds.azure.azure_autoscaler import AzureAutoscaler
from config.clouds.traits import PoolBounds

STEPS = (60, 75, 90)
"""Percentages beside the release's. Few, so that a changed bound of a pool seldom updates the
cluster; none above 90, where an outage that leaves a few nodes would go unnoticed."""

_COUNTS = tuple(digit * 10**power for power in range(1, 6) for digit in (1, 2, 5))
"""Few for the same reason."""


@dataclass(frozen=True)
class Loss:
    """Pools that may be lost at once."""

    pools: tuple[str, ...]
    lost: int
    """Nodes, at most."""
    left: int
    """Nodes of the others, at least."""

    @property
    def percentage(self) -> int:
        """The share of the lost nodes in all nodes, in per cent, rounded up."""
        return math.ceil(100 * self.lost / (self.lost + self.left))


@dataclass(frozen=True)
class Limits:
    """The limits that the autoscaler gets."""

    count: int
    percentage: int

    def stopped_by(self, loss: Loss) -> bool:
        """Return whether the loss stops the autoscaler."""
        return loss.lost > self.count and loss.percentage > self.percentage


def losses(pools: Sequence[PoolBounds], system: int) -> Iterator[Loss]:
    """Yield all spot pools together, as a region may lack every size, and each on-demand pool."""
    together = [pool for pool in pools if pool.reclaimable]
    for gone in (together, *([pool] for pool in pools if not pool.reclaimable)):
        if gone:
            rest = sum(pool.least for pool in pools if pool not in gone)
            yield Loss(
                tuple(pool.name for pool in gone), sum(pool.most for pool in gone), system + rest
            )


def limits(pools: Sequence[PoolBounds], system: int, pinned: Limits) -> Limits:
    """Return the release's limits, raised until no loss stops the autoscaler.

    First the percentage, which also holds in a small cluster, then the count.
    """
    stopping = [loss for loss in losses(pools, system) if pinned.stopped_by(loss)]
    needed = max((loss.percentage for loss in stopping), default=0)
    percentage = next(
        (step for step in (pinned.percentage, *STEPS) if step >= needed),
        max(pinned.percentage, *STEPS),
    )
    lost = max((loss.lost for loss in stopping if loss.percentage > percentage), default=0)
    return Limits(
        next((count for count in (pinned.count, *_COUNTS) if count >= lost), lost), percentage
    )


def chosen(
    own: AzureAutoscaler, release: AzureAutoscaler, pools: Sequence[PoolBounds], system: int
) -> Limits:
    """Return the stack file's limits; derive missing ones from the bounds."""
    assert release.ok_total_unready_count is not None
    assert release.max_total_unready_percentage is not None
    count = (
        release.ok_total_unready_count
        if own.ok_total_unready_count is None
        else own.ok_total_unready_count
    )
    if own.max_total_unready_percentage is not None:
        return Limits(count, own.max_total_unready_percentage)
    derived = limits(pools, system, Limits(count, release.max_total_unready_percentage))
    return derived if own.ok_total_unready_count is None else Limits(count, derived.percentage)
