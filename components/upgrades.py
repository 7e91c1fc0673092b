"""Upgrade settings of pools whose stack file names none."""

from __future__ import annotations

from config.model.pool import Upgrade
from config.placement.node_pools import NodePool

IN_PLACE = Upgrade(maxSurge="0", maxUnavailable="1")
"""The default of on-demand GPU pools on AKS and of all GPU pools on GKE. Quota for another GPU
machine is seldom available, and an upgrade that waits for it stops half-way (pages
upgrade-aks-node-pools-rolling and node-pool-upgrade-strategies)."""


def of(pool: NodePool, surge: Upgrade, *, full: bool = False) -> Upgrade:
    """Return the stack file's settings, else IN_PLACE for GPU pools and `surge`, the cloud's
    default, for others.

    `full`: the pool gets only reserved machines, so there is no room for a surge. That is so on GKE
    (page node-upgrades-quota); AKS then uses ordinary machines (page
    use-capacity-reservation-groups).
    """
    return pool.source.upgrade or (IN_PLACE if pool.gpus or full else surge)
