"""Rules of any pool: bounds, zones, reservation, other clouds' keys, system pool."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic.alias_generators import to_camel

from config.base.problems import Problem
from config.clouds import registry
from config.clouds.traits import Cloud
from config.model.pool import AnyPool, Capacity, Fallback, Pool, SystemPool
from config.model.reading import known, of_each, part, written
from config.placement import object_names
from config.rules.draft import Draft, each_step, has_gpus


def _least(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if (
        pool.min_nodes is not None
        and pool.max_nodes is not None
        and pool.min_nodes > pool.max_nodes
    ):
        least, most = pool.min_nodes, pool.max_nodes
        what = f"is {least}, more than maxNodes, which is {most}"
        remedy = f"write {most} or less, or raise maxNodes"
        if most:
            remedy = (
                f"raise maxNodes to {least}, write {most} or less, or exchange the two: "
                f"`minNodes: {most}`, `maxNodes: {least}`"
            )
        # A cloud refuses a system pool of one node, or its rules warn of it.
        if not isinstance(pool, Pool) and most == 1:
            remedy = f"write `maxNodes: {least}`, or more"
        yield Problem(f"{path}.minNodes", what, remedy)


def two_system_nodes(pool: SystemPool) -> str:
    """Return the remedy for a system pool of one node."""
    also = " and `maxNodes: 2`" if known(lambda: pool.max_nodes, 2) == 1 else ""
    return f"write `minNodes: 2`{also} or more"


def _no_most(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # Where a cloud's own settings bound each zone, its rules report the missing bound.
    if pool.max_nodes is None and pool.of_a_zone(0) is None and pool.of_a_zone(1) is None:
        yield Problem(f"{path}.maxNodes", "is missing", "add the most nodes, such as `maxNodes: 4`")


def _most(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.max_nodes is not None:
        yield from _too_many(f"{path}.maxNodes", pool.max_nodes, pool, draft, cloud)


@each_step
def _most_of_a_twin(
    path: str, number: int, step: Fallback, pool: Pool, draft: Draft, cloud: Cloud
) -> Iterator[Problem]:
    if step.on_demand:
        yield from _too_many(
            f"{path}.onDemand.maxNodes", step.on_demand.max_nodes, pool, draft, cloud
        )


def _too_many(
    path: str, nodes: int, pool: AnyPool, draft: Draft, cloud: Cloud
) -> Iterator[Problem]:
    zones = pool.zone_count(draft.cloud) if cloud.max_nodes_are_of_a_zone else 1
    if nodes > cloud.max_nodes * zones:
        of = f"a zone, and the pool has {zones}" if cloud.max_nodes_are_of_a_zone else "a pool"
        most = cloud.max_nodes * zones
        key = path.rpartition(".")[2]
        remedy = f"write `{key}: {most}` or fewer; {cloud.title} takes at most {cloud.max_nodes} nodes {of}"
        yield Problem(path, f"is {nodes}", remedy)


def _zones(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if len(set(pool.zones)) < len(pool.zones):
        yield Problem(
            f"{path}.zones", f"names a zone twice: {', '.join(pool.zones)}", "name each zone once"
        )
    for number, zone in enumerate(pool.zones):
        if not re.fullmatch(cloud.zone_form, zone):
            yield Problem(
                f"{path}.zones[{number}]",
                f"{zone!r} is not a zone of {cloud.title}",
                cloud.zone_words,
            )


def _too_many_pools(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    twins = len(
        [twin for twin in draft.of_pools(lambda pool: object_names.twin_name(pool, cloud)) if twin]
    )
    count = draft.makes_cluster + len(draft.pools) + twins
    if cloud.max_pools is not None and count > cloud.max_pools:
        others = " with the system pool" if draft.makes_cluster else ""
        yield Problem(
            "pools",
            f"makes {count} node pools{others} and {twins} twins",
            f"{cloud.title} takes at most {cloud.max_pools} in a cluster",
        )


def _other_clouds_keys(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for key in registry.keys_of_other_clouds(cloud.provider) if cloud.makes_pools else ():
        *around, last = key.split(".")
        thing: Any = pool
        for name in around:
            thing = part(thing, name) if thing else None
        if thing and last in thing.model_fields_set:
            where = ".".join([path, *map(to_camel, (*around, last))])
            what = f"is set, but {cloud.title} has no such setting"
            yield Problem(where, what, cloud.instead.get(key, "remove it"))


def _on_demand(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if "reservation" in pool.model_fields_set and not cloud.makes_pools:
        what = f"is set, but {cloud.title} has no such setting"
        yield Problem(f"{path}.reservation", what, "remove it: these nodes exist already")
    # Azure: learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview,
    # "Limitations". Google: skypilot-org/skypilot pull request 2393 (spot);
    # GoogleCloudPlatform/cluster-autoscaler, pkg/autoprovisioning/injection.go (flex-start).
    if written(pool, "reservation") and pool.reclaimable:
        yield Problem(
            f"{path}.reservation",
            f"is set on a pool that is {pool.capacity}: reserved machines are bought on demand",
            "remove it, or write `capacity: on-demand` and remove `spot` and `fallback`",
        )


def _critical_addons_only(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if (
        not draft.makes_cluster
        or not draft.system_pool
        or not draft.system_pool.critical_addons_only
    ):
        return
    # A pool that cannot be read well enough to tell may be the one.
    others = [
        pool
        for pool in draft.pools.values()
        if pool.capacity == Capacity.ON_DEMAND and not pool.taints and not has_gpus(pool, cloud)
    ]
    if draft.all_pools and not others:
        spot = of_each(draft.spot_pools(), lambda pool: "" if has_gpus(pool, cloud) else pool.name)
        also = ", ".join(filter(None, spot))
        yield Problem(
            "systemPool.criticalAddonsOnly",
            "leaves Kubeflow's own pods nowhere to run: no other pool is on-demand, untainted "
            "and without GPUs" + (f" ({also} is spot)" if also else ""),
            f"set it to false, or {general_pool(draft, cloud)}",
        )


def general_pool(draft: Draft, cloud: Cloud) -> str:
    """Return the remedy for a stack whose pods without GPUs have no on-demand pool."""
    taken = draft.of_pools(lambda pool: pool.name)
    numbered = (f"general{number}" for number in range(2, len(taken) + 2))
    names = ("general", "cpu", "platform", "basic", *numbered)
    free = next(name for name in names if name not in taken)
    pool = f"`{{name: {free}, machine: {cloud.cpu_machine}, maxNodes: 4}}`"
    return f"add an on-demand pool, such as {pool}"


RULES = (_too_many_pools, _critical_addons_only)
ANY_POOL_RULES = (_least, _most, _zones, _other_clouds_keys)
POOL_RULES = (_no_most, _most_of_a_twin, _on_demand)
