"""The order in which the autoscaler grows a stack's pools, by the cost of a useful GPU hour."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from config.clouds.tables import price
from config.clouds.traits import Cloud
from config.model.pool import Capacity
from config.model.spec import ClusterSpec
from config.placement import object_names
from config.placement.node_pools import NodePool

WORKING: Mapping[Capacity, float] = {Capacity.SPOT: 0.79, Capacity.ON_DEMAND: 0.91}
"""The share of its paid GPU hours in which a machine works; the rest is booting and idling."""
KEPT: Mapping[Capacity, float] = {Capacity.SPOT: 0.943, Capacity.ON_DEMAND: 1.0}
"""The share of the work that is not done again."""


def useful_gpu_hour(
    pool: NodePool, spec: ClusterSpec, cloud: Cloud, needed: int = 1
) -> float | None:
    """Return US dollars for a useful hour of one GPU, for work that needs `needed` GPUs; None
    without GPUs or a known price.

    Machines are paid whole: a pod with one GPU on a machine of four pays for four.
    """
    paid = price(cloud.provider, spec.cloud.place or "", pool.machine, pool.capacity)
    if paid is None or not pool.gpus:
        return None
    return (
        paid
        * math.ceil(needed / pool.gpus)
        / needed
        / (WORKING[pool.capacity] * KEPT[pool.capacity])
    )


def growth_order(spec: ClusterSpec, pools: Sequence[NodePool], cloud: Cloud) -> tuple[str, ...]:
    """Return the names of `pools` and the system pool, in the order in which they should grow.

    Pools without GPUs come first, then the system pool: a pod that tolerates everything must not
    buy a GPU. Each chain (spot, the pools of its further steps, its twin) is tried whole: first
    those that `growth.order` names, then by the cheapest useful GPU hour, or by the smallest
    machine if a price is unknown. A spot pool whose useful GPU hour costs more than its twin's
    comes after the twin, as overflow. An on-demand pool outside all chains comes before the first
    larger twin, for pods that stay off spot. No two pools share a rank: between equals the
    autoscaler chooses at random (docs/adr/0022).
    """
    system = [spec.system_pool.name] if spec.system_pool else []
    without = _laid_out([pool for pool in pools if not pool.gpus], spec, cloud)
    return (*without, *system, *_laid_out([pool for pool in pools if pool.gpus], spec, cloud))


def paying(
    steps: Sequence[NodePool], twin: NodePool, spec: ClusterSpec, cloud: Cloud
) -> list[NodePool]:
    """Return a chain's pools in order, its twin before those whose useful GPU hour costs more."""
    needed = steps[0].gpus if steps else 1
    dear = useful_gpu_hour(twin, spec, cloud, needed)

    def dearer(pool: NodePool) -> bool:
        cost = useful_gpu_hour(pool, spec, cloud, needed)
        return cost is not None and dear is not None and cost > dear

    return [
        *(pool for pool in steps if not dearer(pool)),
        twin,
        *(pool for pool in steps if dearer(pool)),
    ]


def _laid_out(pools: Sequence[NodePool], spec: ClusterSpec, cloud: Cloud) -> list[str]:
    positions = {name: number for number, name in enumerate(spec.growth.order)}

    costs = {pool.name: useful_gpu_hour(pool, spec, cloud) for pool in pools if not pool.twin}
    priced = None not in costs.values()

    def key(pool: NodePool) -> tuple[float, float, tuple[float, float], str]:
        cost = (costs.get(pool.name) or 0.0) if priced else 0.0
        return (positions.get(pool.source.name, math.inf), cost, _size(pool, cloud), pool.name)

    by_size = sorted(pools, key=key)
    own = {pool.source.name: pool for pool in by_size if not pool.twin}
    twins = {pool.source.name: pool for pool in by_size if pool.twin}
    chains = {}
    for pool in spec.pools:
        if pool.name in own:
            steps = [own[name] for name in object_names.chain(pool) if name in own]
            twin = twins.get(pool.name)
            chains[pool.name] = paying(steps, twin, spec, cloud) if twin else steps
    named = _named(spec, own, twins)
    before: dict[str, list[NodePool]] = {pool.name: [] for pool in by_size}
    for chain in chains.values():
        for earlier, later in pairwise(chain):
            before[later.name].append(earlier)
    # Those that `growth.order` names stand where it says, and steps of a chain in it.
    placed = {*positions, *(name for pool in spec.pools for name in object_names.chain(pool)[1:])}
    single = [
        pool
        for pool in own.values()
        if pool.capacity == Capacity.ON_DEMAND and pool.source.name not in placed
    ]
    result: list[str] = []
    seen: set[str] = {pool.name for pool in (*single, *named)}

    def put(pool: NodePool) -> None:
        """Put a pool after all pools that chains have before it; a refused cycle ends as well."""
        nonlocal single
        if pool.name in seen:
            return
        seen.add(pool.name)
        for earlier in sorted(before[pool.name], key=key):
            put(earlier)
        if pool.twin:
            smaller = [each for each in single if _size(each, cloud) < _size(pool, cloud)]
            single = [each for each in single if each not in smaller]
            result.extend(each.name for each in smaller)
        result.append(pool.name)

    for head in own.values():
        for member in chains.get(head.source.name, [head]):
            put(member)
    return [*(pool.name for pool in named), *result, *(pool.name for pool in single)]


def _named(
    spec: ClusterSpec, own: dict[str, NodePool], twins: dict[str, NodePool]
) -> list[NodePool]:
    """Return the order as written if it names further steps of a chain or twins; else nothing."""
    by_twin = {pool.label: pool for pool in twins.values()}
    inside = {name for pool in spec.pools for name in object_names.chain(pool)[1:]} | by_twin.keys()
    if not inside & set(spec.growth.order):
        return []
    return [pool for name in spec.growth.order if (pool := own.get(name) or by_twin.get(name))]


def _size(pool: NodePool, cloud: Cloud) -> tuple[float, float]:
    machine = cloud.machine(pool.machine)
    return (machine.vcpus, machine.memory_gib) if machine else (math.inf, math.inf)
