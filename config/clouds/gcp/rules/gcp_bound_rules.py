"""Checks of the bounds of pools: of the whole pool or of each zone, never both (page cluster-autoscaler)."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.gcp.gcp_pool import GcpPool, options_of
from config.clouds.traits import Cloud
from config.model.fields import given
from config.model.pool import AnyPool, Pool
from config.model.reading import known
from config.rules.draft import Draft, most_nodes


def _one_kind(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    options = options_of(pool) or GcpPool()
    zonal = [
        str(GcpPool.model_fields[name].alias)
        for name in given(options, "min_nodes_per_zone", "max_nodes_per_zone")
    ]
    total = [str(Pool.model_fields[name].alias) for name in given(pool, "min_nodes", "max_nodes")]
    if zonal and total:
        yield Problem(
            f"{path}.gcp.{zonal[-1]}",
            f"is set beside {' and '.join(total)}: a pool has bounds of the whole or of a zone, not both",
            "keep minNodes and maxNodes, or gcp.minNodesPerZone and gcp.maxNodesPerZone",
        )
    elif zonal == ["minNodesPerZone"]:
        yield Problem(
            f"{path}.gcp.maxNodesPerZone",
            "is missing",
            "add `maxNodesPerZone`, or write minNodes and maxNodes",
        )


def _per_zone(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    options = options_of(pool)
    if not options or options.max_nodes_per_zone is None:
        return
    least, most = options.min_nodes_per_zone, options.max_nodes_per_zone
    if least is not None and least > most:
        what = f"is {least}, more than maxNodesPerZone, which is {most}"
        yield Problem(f"{path}.gcp.minNodesPerZone", what, f"at most {most}")
    if most > cloud.max_nodes:
        remedy = f"{cloud.title} takes at most {cloud.max_nodes} nodes a zone"
        yield Problem(f"{path}.gcp.maxNodesPerZone", f"is {most}", remedy)


def _location_policy(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    where, options = f"{path}.gcp.locationPolicy", options_of(pool)
    if not options or not options.location_policy:
        return
    if known(lambda: pool.zone_count(draft.cloud), 0) == 1:
        yield Problem(where, "has no use for a pool in one zone", "remove it", warning=True)
    elif pool.reclaimable and options.location_policy == "balanced":
        kind = "spot" if pool.taken_back else pool.capacity
        yield Problem(
            where,
            f"is balanced for a {kind} pool, which then misses machines that only one zone has",
            "write any, or leave it out",
            warning=True,
        )


def _none_at_first(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # The zones of an existing cluster are unknown.
    if not draft.makes_cluster and not pool.zones:
        return
    most, zones = most_nodes(pool, draft), pool.zone_count(draft.cloud)
    # pulumi-gcp, `initialNodeCount`: in each zone
    if pool.least_nodes(draft.cloud) and most and most < zones:
        yield Problem(
            f"{path}.maxNodes",
            f"is {most} in {zones} zones: GKE begins with as many nodes in each, here with none, and adds them as pods wait",
            f"{zones} or more, or name fewer `zones`",
            warning=True,
        )


POOL_RULES = (_one_kind, _per_zone, _location_policy)
ANY_POOL_RULES = (_none_at_first,)
