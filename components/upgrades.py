"""Upgrade settings of pools whose stack file names none."""

from __future__ import annotations

from config.model.pool import Upgrade
from config.placement.node_pools import NodePool

IN_PLACE = Upgrade(maxSurge="0", maxUnavailable="1")
"""For on-demand GPU pools on AKS and all GPU pools on GKE: quota for one more GPU machine is seldom available, and an upgrade
that waits for it stops half-way (pages upgrade-aks-node-pools-rolling and node-pool-upgrade-strategies)."""


def of(pool: NodePool, surge: Upgrade, *, full: bool = False) -> Upgrade:
    """The stack file's settings, else IN_PLACE for GPU pools and `surge`, the cloud's default, for others.

    `full`: the pool gets no machine beyond those that are reserved for it, so that no other one has room for a surge. So it is on
    GKE (page node-upgrades-quota); AKS takes ordinary machines then (page use-capacity-reservation-groups).
    """
    return pool.source.upgrade or (IN_PLACE if pool.gpus or full else surge)
