"""Checks of spot pools and of their fallback."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from config.base import near
from config.base.problems import Problem
from config.clouds.tables import Machine
from config.clouds.traits import Cloud
from config.model.pool import Fallback, Pool
from config.model.reading import known, of_each, written
from config.placement import node_pools, object_names
from config.rules.draft import Draft, each_step, has_gpus
from config.rules.pool_rules import general_pool


def _offered(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.reclaimable and pool.capacity not in cloud.added:
        yield Problem(
            f"{path}.capacity",
            f"is {pool.capacity}, which {cloud.title} does not have",
            "write `capacity: spot`",
        )


def _only_spot(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not pool.reclaimable:
        if pool.spot:  # in place of `capacity: spot` people write `spot: true`
            yield Problem(
                f"{path}.spot",
                "is set on an on-demand pool",
                "write `capacity: spot` beside it, or remove it",
            )
        if written(pool, "fallback"):
            yield Problem(
                f"{path}.fallback",
                "is set on an on-demand pool: on demand comes last, after spot",
                "write `capacity: spot` beside it for a spot pool, or remove it",
            )


def _only_on_demand(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if (
        pool.reclaimable
        and written(pool, "generation")
        and cloud.makes_pools
        and not any(step.on_demand for step in pool.fallback)
    ):
        yield Problem(
            f"{path}.generation",
            "is set on a spot pool without a twin: such a pool is simply replaced",
            "remove it",
        )


def _machine(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    machine = cloud.machine(pool.machine)
    if not machine or machine.status == "retired":
        return
    if pool.taken_back and machine.spot == "no":
        yield Problem(
            f"{path}.capacity",
            f"{machine.size} is not sold as spot",
            f"{'write `capacity: on-demand`, or ' if machine.on_demand else ''}use another size"
            + _with_spot(machine, cloud),
        )
    elif not pool.reclaimable and not machine.on_demand and not pool.reservation:
        spot = "" if machine.spot == "no" else "write `capacity: spot`, "
        yield Problem(
            f"{path}.capacity",
            f"{machine.size} is not sold on demand",
            f"{spot}name the `reservation` it comes from, or use another size",
        )


def _with_spot(machine: Machine, cloud: Cloud) -> str:
    """Return an example of a size as large that is sold as spot; empty if there is none."""
    alike = cloud.sold(
        spot="yes", vcpus=machine.vcpus, gpus=machine.gpus, gpu_model=machine.gpu_model
    )
    near = min(alike, key=lambda each: abs(each.memory_gib - machine.memory_gib), default=None)
    return f", such as {near.size}" if near else ""


@each_step
def _machine_of_a_twin(
    path: str, number: int, step: Fallback, pool: Pool, draft: Draft, cloud: Cloud
) -> Iterator[Problem]:
    machine = cloud.machine(pool.machine)
    if step.on_demand and machine and not machine.on_demand:
        yield Problem(
            f"{path}.onDemand",
            f"asks for {machine.size}, which is not sold on demand",
            "remove it, or use another size",
        )


def _may_fall_back(pool: Pool) -> bool:
    return known(lambda: pool.reclaimable, True)


@each_step
def _fallback(
    path: str, number: int, step: Fallback, pool: Pool, draft: Draft, cloud: Cloud
) -> Iterator[Problem]:
    if not _may_fall_back(pool):
        return
    if step.pool and step.on_demand:
        yield Problem(
            path,
            "has both `pool` and `onDemand`, and a step is one of them",
            f"write two steps: `- pool: {step.pool}` and below it `- onDemand: ...`",
        )
    elif step.pool is None and step.on_demand is None:
        yield Problem(
            path, "must name one thing", "write `{pool: NAME}` or `{onDemand: {maxNodes: N}}`"
        )
    elif step.on_demand and number < len(pool.fallback) - 1:
        yield Problem(
            path,
            "is not the last step: every other pool is tried before on-demand",
            "move onDemand to the end",
        )
    elif step.pool and step.pool in of_each(pool.fallback[:number], lambda other: other.pool):
        yield Problem(f"{path}.pool", f"names {step.pool!r} a second time", "remove it")


@each_step
def _fallback_pools(
    path: str, number: int, step: Fallback, pool: Pool, draft: Draft, cloud: Cloud
) -> Iterator[Problem]:
    where = f"{path}.pool"
    if not _may_fall_back(pool) or step.pool is None:
        return
    pools = dict(draft.of_pools(lambda other: (other.name, other)))
    if step.pool == pool.name:
        yield Problem(
            where,
            "is the pool itself, which is tried first in any case",
            "remove the step, or name another spot pool"
            if len(pool.fallback) > 1
            else "remove `fallback`: without it work waits for spot, and nothing is bought on demand; "
            "or name another spot pool",
        )
    elif step.pool in pools:
        yield from _other_kind(where, pool, pools[step.pool], cloud)
    elif draft.names_are_known():
        others = sorted(other.name for other in draft.spot_pools() if other.name != pool.name)
        twin = any(of_each(pool.fallback, lambda other: other.on_demand is not None))
        alone = "" if twin else ", or `{onDemand: {maxNodes: 2}}` in place of `pool`"
        guess, known = near.did_you_mean(step.pool, others), f"one of: {', '.join(others)}"
        other = f", or name {known}" if others else alone
        remedy = (
            f"{guess}{known}"
            if guess
            else f"remove this step, or write that pool under `pools`{other}"
        )
        free = [name for name in others if name not in _in_chains(draft)]
        if len(free) == 1:
            remedy = f"write `pool: {free[0]}`, which is in no chain, or that pool under `pools`"
        yield Problem(where, f"there is no pool {step.pool!r}", remedy)


def _in_chains(draft: Draft) -> set[str]:
    """Return the names of the pools that have a chain, or are a step of one."""
    chains = draft.of_pools(lambda pool: (pool.name, pool.fallback))
    steps = {name for _, chain in chains for name in of_each(chain, lambda step: step.pool) if name}
    return steps | {name for name, chain in chains if chain}


def _other_kind(where: str, pool: Pool, other: Pool, cloud: Cloud) -> Iterator[Problem]:
    if (
        not other.reclaimable
        and not other.reservation
        and has_gpus(other, cloud) == has_gpus(pool, cloud)
    ):
        yield Problem(
            where,
            f"{other.name!r} is on-demand: a step is a spot pool, or one with a `reservation`",
            f"write `- onDemand: {{maxNodes: {other.max_nodes or 2}}}` in its place: the program "
            f"declares an on-demand pool of {pool.name}'s machines itself",
        )
    elif has_gpus(other, cloud) != has_gpus(pool, cloud):
        with_gpus, without = (
            (pool.name, other.name) if has_gpus(pool, cloud) else (other.name, pool.name)
        )
        yield Problem(
            where,
            f"{with_gpus!r} has GPUs and {without!r} has none: no pod fits both",
            "name another spot pool of the same kind, or write `- onDemand: {maxNodes: 2}`",
        )
    # What a share or a MIG instance counts depends on more than the machine.
    elif not any(node_pools.has_plugin_config(one) for one in (pool, other)):
        most, here = cloud.gpus(pool)[0], cloud.gpus(other)[0]
        if here < most:
            yield Problem(
                where,
                f"{other.name!r} has {here} GPU{'s' if here > 1 else ''} a machine, and "
                f"{pool.name!r} has {most}: a pod that asks for more than {here} has no fallback "
                "here",
                f"name a pool whose machines have {most} GPUs, or leave it if no pod asks for more",
                warning=True,
            )


def _fallback_cycles(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    chains = of_each(draft.pools.items(), lambda pair: (pair[0], object_names.chain(pair[1])))
    index_of = {chain[0]: index for index, chain in chains}
    earlier: dict[str, set[str]] = {name: set() for name in index_of}
    for _, chain in chains:
        for before, later in pairwise(chain):
            if before in earlier and later in earlier and later != before:
                earlier[later].add(before)
    try:
        TopologicalSorter(earlier).prepare()
    except CycleError as error:
        circle = sorted(set(error.args[1]))
        # The step back to an earlier pool of the file is the one that people do not mean.
        for name in circle:
            index = index_of[name]
            for back in object_names.chain(draft.pools[index])[1:]:
                if back in circle and index_of[back] < index:
                    yield Problem(
                        f"pools[{index}].fallback",
                        f"goes in a circle: {', '.join(circle)} fall back to one another",
                        f"remove `- pool: {back}` here{_whole(draft.pools[index])}, or the step from "
                        f"{back} to {name}",
                    )


def _whole(pool: Pool) -> str:
    """Return that a chain of one step goes as a whole."""
    return ", with `fallback` above it" if len(pool.fallback) == 1 else ""


def _spot_alone(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not draft.makes_cluster or not draft.system_pool or not draft.pools or not draft.all_pools:
        return
    # Where the system pool takes no others, `rules.system_pool` refuses the file.
    if not draft.system_pool.critical_addons_only and len(draft.spot_pools()) == len(draft.pools):
        yield Problem(
            "pools",
            "none is on demand: Kubeflow's own pods and notebooks have the system pool alone",
            general_pool(draft, cloud),
            warning=True,
        )


ALWAYS_ONE = "for one node that is always there write an on-demand pool with `minNodes: 1`"
"""The remedy for a least number of nodes on machines that may end."""


def _least(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if cloud.makes_pools and pool.taken_back and pool.least_nodes(draft.cloud):
        key = "minNodes" if pool.of_a_zone(0) is None else "gcp.minNodesPerZone"
        yield Problem(
            f"{path}.{key}",
            "is not guaranteed on spot: the cloud may take all machines back",
            f"leave it out if none must be warm; {ALWAYS_ONE}",
            warning=True,
        )


RULES = (_fallback_cycles, _spot_alone)
POOL_RULES = (
    _offered,
    _only_spot,
    _only_on_demand,
    _machine,
    _machine_of_a_twin,
    _fallback,
    _fallback_pools,
    _least,
)
