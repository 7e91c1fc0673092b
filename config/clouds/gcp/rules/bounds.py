"""Checks of how large pools may become: of a whole pool or of a zone of it, never both (page cluster-autoscaler)."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.gcp.settings import GcpPool, options_of
from config.clouds.traits import Cloud
from config.draft import Draft, most_nodes
from config.model.fields import given
from config.model.pool import AnyPool, Pool
from config.problems import Problem
from config.reading import known


def _one_kind(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    options = options_of(pool) or GcpPool()
    zonal = [
        str(GcpPool.model_fields[name].alias) for name in given(options, "min_nodes_per_zone", "max_nodes_per_zone")
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
            f"{path}.gcp.maxNodesPerZone", "is missing", "add `maxNodesPerZone`, or write minNodes and maxNodes"
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
        yield Problem(
            where,
            "is balanced for a spot pool, which then does not take the machines where there are any",
            "write any, or leave it out",
            warning=True,
        )


def _none_at_first(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # Of a cluster of somebody else the zones are not known.
    if not draft.made_here and not pool.zones:
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
