"""Checks of spot pools and of what is tried when they cannot grow."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from spec import placement
from spec.clouds import Cloud
from spec.model import Capacity, Pool
from spec.problems import Problem
from spec.rules.draft import Draft, has_gpus


def _spot(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for index, pool in draft.pools.items():
        path = f"pools[{index}]"
        machine = cloud.machine(pool.machine)
        if pool.capacity != Capacity.SPOT:
            if pool.spot:
                yield Problem(f"{path}.spot", "is set on an on-demand pool", "remove it, or write `capacity: spot`")
            if pool.fallback:
                yield Problem(
                    f"{path}.fallback", "is set on an on-demand pool, which is what one falls back to", "remove it"
                )
            continue
        if machine and machine.spot == "no" and machine.status != "retired":
            yield Problem(
                f"{path}.capacity",
                f"{machine.size} cannot be had as spot",
                "write `capacity: on-demand`, or use another size",
            )
        price = pool.spot.max_price if pool.spot else -1
        # learn.microsoft.com/azure/aks/spot-node-pool: -1, or positive with at most five decimals
        if price != -1 and (price <= 0 or round(price, 5) != price):
            yield Problem(
                f"{path}.spot.maxPrice",
                f"is {price:g}",
                "-1 (never evicted for price), or dollars an hour above 0 with at most five decimals",
            )
        if pool.spot and pool.spot.eviction_policy == "Deallocate":
            yield Problem(
                f"{path}.spot.evictionPolicy",
                "is Deallocate: stopped machines count against the quota and confuse the autoscaler (Azure/AKS issue 5211)",
                "leave it out; the default is Delete",
                warning=True,
            )


def _fallback(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    pools = {pool.name: pool for pool in draft.pools.values()}
    for index, pool in draft.pools.items():
        if pool.capacity != Capacity.SPOT:
            continue
        named: set[str] = set()
        for number, step in enumerate(pool.fallback):
            path = f"pools[{index}].fallback[{number}]"
            if (step.pool is None) == (step.on_demand is None):
                yield Problem(path, "must name one thing", "write `{pool: NAME}` or `{onDemand: {maxNodes: N}}`")
            elif step.on_demand and number < len(pool.fallback) - 1:
                yield Problem(
                    path, "is not the last step: every spot pool is tried before on-demand", "move onDemand to the end"
                )
            elif step.pool:
                if step.pool not in pools and step.pool in draft.unreadable:
                    continue
                yield from _fallback_pool(f"{path}.pool", pool, step.pool, pools, named, cloud)
                named.add(step.pool)


def _fallback_pool(
    path: str, pool: Pool, name: str, pools: dict[str, Pool], named: set[str], cloud: Cloud
) -> Iterator[Problem]:
    other = pools.get(name)
    if name == pool.name:
        yield Problem(path, "is the pool itself", "name another spot pool")
    elif name in named:
        yield Problem(path, f"names {name!r} a second time", "remove it")
    elif other is None:
        known = sorted(n for n, p in pools.items() if p.capacity == Capacity.SPOT and n != pool.name)
        yield Problem(path, f"there is no pool {name!r}", f"one of: {', '.join(known) or '(no other spot pool)'}")
    elif other.capacity != Capacity.SPOT:
        yield Problem(
            path, f"{name!r} is not a spot pool", "name a spot pool, or write `{onDemand: {maxNodes: N}}` for a twin"
        )
    elif has_gpus(other, cloud) != has_gpus(pool, cloud):
        yield Problem(
            path, f"only one of {pool.name!r} and {name!r} has GPUs: no pod fits both", "name a pool of the same kind"
        )


def _fallback_cycles(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    index_of = {pool.name: index for index, pool in draft.pools.items()}
    earlier: dict[str, set[str]] = {name: set() for name in index_of}
    for pool in draft.pools.values():
        for before, later in pairwise(placement.chain(pool)):
            if before in earlier and later in earlier and later != before:
                earlier[later].add(before)
    try:
        TopologicalSorter(earlier).prepare()
    except CycleError as error:
        circle = sorted(set(error.args[1]))
        for name in circle:
            yield Problem(
                f"pools[{index_of[name]}].fallback",
                f"goes in a circle: {', '.join(circle)} fall back to one another",
                "put them in one order, and leave the last without a way back",
            )


RULES = (_spot, _fallback, _fallback_cycles)
