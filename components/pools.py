"""What pools of all clouds share: upgrade settings, and names in an existing cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from components.target import Stack
from config.base.problems import Problem
from config.model.pool import Upgrade
from config.placement.node_pools import POOL_LABEL, NodePool

STACK_TAG = "kubeflow-spot-stack"
"""Tag (AKS) or resource label (GKE) of every pool that a stack adds to an existing cluster; Azure
allows no slash in it."""


def name_taken(
    stack: Stack,
    pool: NodePool,
    cluster: str,
    *,
    labels: Mapping[str, str] | None,
    tags: Mapping[str, str] | None,
    names: Iterable[str],
) -> Iterator[Problem]:
    """Yield a problem if the live pool of this name, with these node labels and tags, is not this
    stack's.

    A live pool with the program's label and without the tag may be this stack's. `names`: all pools
    of the cluster.
    """
    owner = (tags or {}).get(STACK_TAG)
    if POOL_LABEL in (labels or {}) and owner in (None, stack.instance):
        return
    whose = f"stack {owner!r}" if owner and owner != stack.instance else "another owner"
    yield Problem(
        f"{stack.path(pool)}.name",
        f"the cluster {cluster!r} has a pool {pool.name!r} already, made by {whose}",
        f"choose a name that is free; taken are: {', '.join(sorted(names))}",
    )


IN_PLACE = Upgrade(maxSurge="0", maxUnavailable="1")
"""The default of on-demand GPU pools on AKS and of all GPU pools on GKE. Quota for another GPU
machine is seldom available, and an upgrade that waits for it stops half-way (pages
upgrade-aks-node-pools-rolling and node-pool-upgrade-strategies)."""


def upgrade_of_pool(pool: NodePool, surge: Upgrade, *, full: bool = False) -> Upgrade:
    """Return the stack file's settings, else IN_PLACE for GPU pools and `surge`, the cloud's
    default, for others.

    `full`: the pool gets only reserved machines, so there is no room for a surge. That is so on GKE
    (page node-upgrades-quota); AKS then uses ordinary machines (page
    use-capacity-reservation-groups).
    """
    return pool.source.upgrade or (IN_PLACE if pool.gpus or full else surge)
