"""Intent: what a stack file adds to what a cluster shows, for checks that cannot tell without
it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from checks.ready.quantities import number
from config.clouds import registry
from config.clouds.azure.azure_settings import Azure
from config.model.pool import Capacity, Effect
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool, node_pools, system_pool


@dataclass(frozen=True)
class Bound:
    """How far a pool may grow."""

    most: int
    plain: bool
    """Whether pods without tolerations belong on its nodes."""
    each: Mapping[str, float]
    """What surely fits one empty node, by resource; empty where that is unknown."""


@dataclass(frozen=True)
class Intent:
    """What a stack file says, or nothing."""

    bounds: Mapping[str, Bound] = field(default_factory=dict)
    """By the pool's label; empty without a stack file."""
    expander: str | None = None
    """How the autoscaler is told to choose among groups; None where no stack file says it."""
    provisions: bool = False
    """Whether the stack file has Karpenter in the autoscaler's place."""


def intent_of(spec: ClusterSpec) -> Intent:
    """Return the intent of a stack file."""
    cloud = registry.cloud_of(spec.cloud)
    pools = node_pools(spec, cloud)
    if spec.system_pool:
        pools = (system_pool(spec.system_pool, cloud), *pools)
    expander = None
    # An existing cluster has its own settings; its file says nothing of them.
    if isinstance(spec.cloud, Azure) and spec.system_pool:
        expander = spec.cloud.autoscaler.expander
    bounds = {pool.label: _bound(pool) for pool in pools}
    return Intent(bounds, expander, provisions=not spec.cloud.autoscaled)


def _bound(pool: NodePool) -> Bound:
    blocking = any(taint.effect != Effect.PREFER_NO_SCHEDULE for taint in pool.taints)
    each = {resource: number(amount) for resource, amount in pool.largest_request.items()}
    return Bound(pool.max_nodes, pool.capacity == Capacity.ON_DEMAND and not blocking, each)
