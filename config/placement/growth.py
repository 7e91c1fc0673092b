"""The order in which the autoscaler grows a stack's pools. Nothing in it depends on the order in which pools are written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from config.clouds.traits import Cloud
from config.model.pool import Capacity
from config.model.spec import ClusterSpec
from config.placement import names
from config.placement.node_pools import NodePool


def growth_order(spec: ClusterSpec, pools: Sequence[NodePool], cloud: Cloud) -> tuple[str, ...]:
    """Names of all `pools` and the system pool's, in the order in which the autoscaler is to grow them.

    Pools without GPUs stand first, the system pool behind them: a pod that tolerates everything must not buy a GPU. Each
    chain (spot, the pools of its further steps, its on-demand twin) is tried whole: those that `growth.order` names, then
    that of the smallest machine. An on-demand pool of no chain stands before the first larger twin, for pods that are kept off
    spot. vCPUs stand for the price, which a stack file does not hold. No two share a rank: between equals the autoscaler
    chooses at random (docs/adr/0025).
    """
    system = [spec.system_pool.name] if spec.system_pool else []
    without = _laid_out([pool for pool in pools if not pool.gpus], spec, cloud)
    return (*without, *system, *_laid_out([pool for pool in pools if pool.gpus], spec, cloud))


def _laid_out(pools: Iterable[NodePool], spec: ClusterSpec, cloud: Cloud) -> list[str]:
    positions = {name: number for number, name in enumerate(spec.growth.order)}
    chains = {pool.name: names.chain(pool) for pool in spec.pools}

    def key(pool: NodePool) -> tuple[float, tuple[float, float], str]:
        return (positions.get(pool.source.name, math.inf), _size(pool, cloud), pool.name)

    by_size = sorted(pools, key=key)
    own = {pool.source.name: pool for pool in by_size if not pool.twin}
    twins = {pool.source.name: pool for pool in by_size if pool.twin}
    before: dict[str, list[str]] = {name: [] for name in own}
    for pool in own.values():
        for earlier, later in pairwise(name for name in chains[pool.source.name] if name in own):
            before[later].append(earlier)
    # Those that `growth.order` names stand where it says, and steps of a chain in it.
    placed = {*positions, *(name for names in chains.values() for name in names[1:])}
    single = [pool for pool in own.values() if pool.capacity == Capacity.ON_DEMAND and pool.source.name not in placed]
    result: list[str] = []
    seen: set[str] = {pool.source.name for pool in single}

    def put(name: str) -> None:
        """Put a pool behind all pools that other chains have before it. A cycle is an error of `config.rules`; this ends anyhow."""
        if name not in seen:
            seen.add(name)
            for earlier in sorted(before[name], key=lambda other: key(own[other])):
                put(earlier)
            result.append(own[name].name)

    for head in own.values():
        for name in chains[head.source.name]:
            if name in own:
                put(name)
        if twin := twins.get(head.source.name):
            smaller = [pool for pool in single if _size(pool, cloud) < _size(twin, cloud)]
            single = [pool for pool in single if pool not in smaller]
            result += [pool.name for pool in (*smaller, twin)]
    return [*result, *(pool.name for pool in single)]


def _size(pool: NodePool, cloud: Cloud) -> tuple[float, float]:
    machine = cloud.machine(pool.machine)
    return (machine.vcpus, machine.memory_gib) if machine else (math.inf, math.inf)
