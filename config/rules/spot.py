"""Checks of spot pools and of what is tried when they cannot grow."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from config.clouds.traits import Cloud
from config.draft import Draft, has_gpus
from config.model.fields import readable
from config.model.pool import Pool
from config.placement import node_pools
from config.problems import Problem


def _offered(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.reclaimable and pool.capacity not in cloud.added:
        yield Problem(
            f"{path}.capacity", f"is {pool.capacity}, which {cloud.title} does not have", "write `capacity: spot`"
        )


def _only_spot(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not pool.reclaimable:
        if pool.spot:
            yield Problem(f"{path}.spot", "is set on an on-demand pool", "remove it, or write `capacity: spot`")
        if pool.fallback:
            yield Problem(
                f"{path}.fallback", "is set on an on-demand pool, which is what one falls back to", "remove it"
            )


def _only_on_demand(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.reclaimable and pool.generation and cloud.makes_pools and not any(step.on_demand for step in pool.fallback):
        yield Problem(
            f"{path}.generation",
            "is set on a spot pool without a twin: a spot pool is simply replaced when what is fixed changes",
            "remove it",
        )


def _machine(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    machine = cloud.machine(pool.machine)
    if not machine or machine.status == "retired":
        return
    if pool.reclaimable and machine.spot == "no":
        yield Problem(
            f"{path}.capacity",
            f"{machine.size} cannot be had as spot",
            "write `capacity: on-demand`, or use another size" if machine.on_demand else "use another size",
        )
    elif not pool.reclaimable and not machine.on_demand:
        yield Problem(
            f"{path}.capacity",
            f"{machine.size} cannot be had on demand",
            "use another size" if machine.spot == "no" else "write `capacity: spot`, or use another size",
        )


def _machine_of_a_twin(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    machine = cloud.machine(pool.machine)
    for number, step in enumerate(pool.fallback):
        if step.on_demand and machine and not machine.on_demand:
            yield Problem(
                f"{path}.fallback[{number}].onDemand",
                f"asks for a machine that cannot be had on demand: {machine.size}",
                "remove it, or use another size",
            )


def _fallback(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not pool.reclaimable:
        return
    for number, step in enumerate(pool.fallback):
        where = f"{path}.fallback[{number}]"
        if not readable(step, "pool", "on_demand"):
            continue
        if (step.pool is None) == (step.on_demand is None):
            yield Problem(where, "must name one thing", "write `{pool: NAME}` or `{onDemand: {maxNodes: N}}`")
        elif step.on_demand and number < len(pool.fallback) - 1:
            yield Problem(
                where, "is not the last step: every spot pool is tried before on-demand", "move onDemand to the end"
            )
        elif step.pool and step.pool in [other.pool for other in pool.fallback[:number] if readable(other, "pool")]:
            yield Problem(f"{where}.pool", f"names {step.pool!r} a second time", "remove it")


def _fallback_pools(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not pool.reclaimable:
        return
    pools = {other.name: other for other in draft.pools.values() if readable(other, "name")}
    for number, step in enumerate(pool.fallback):
        where = f"{path}.fallback[{number}].pool"
        if not readable(step, "pool") or step.pool is None:
            continue
        if step.pool == pool.name:
            yield Problem(where, "is the pool itself", "name another spot pool")
        elif step.pool in pools:
            yield from _other_kind(where, pool, pools[step.pool], cloud)
        elif draft.names_are_known():
            known = sorted(other.name for other in draft.spot_pools() if other.name != pool.name)
            yield Problem(
                where, f"there is no pool {step.pool!r}", f"one of: {', '.join(known) or '(no other spot pool)'}"
            )


def _other_kind(where: str, pool: Pool, other: Pool, cloud: Cloud) -> Iterator[Problem]:
    if not readable(other, "capacity", "machine", "gpus"):
        return
    if not other.reclaimable:
        yield Problem(
            where,
            f"{other.name!r} is not a spot pool",
            "name a spot pool, or write `{onDemand: {maxNodes: N}}` for a twin",
        )
    elif readable(pool, "machine", "gpus") and has_gpus(other, cloud) != has_gpus(pool, cloud):
        yield Problem(
            where,
            f"only one of {pool.name!r} and {other.name!r} has GPUs: no pod fits both",
            "name a pool of the same kind",
        )


def _fallback_cycles(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    index_of = {pool.name: index for index, pool in draft.pools.items() if readable(pool, "name", "fallback")}
    earlier: dict[str, set[str]] = {name: set() for name in index_of}
    for index in index_of.values():
        pool = draft.pools[index]
        if not all(readable(step, "pool") for step in pool.fallback):
            continue
        for before, later in pairwise(node_pools.chain(pool)):
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


RULES = (_fallback_cycles,)
POOL_RULES = (
    _offered,
    _only_spot,
    _only_on_demand,
    _machine,
    _machine_of_a_twin,
    _fallback,
    _fallback_pools,
)
