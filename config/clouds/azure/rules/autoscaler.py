"""Checks of what the cluster autoscaler is told. They warn: AKS takes all of it, but spot and fallback suffer.

What was seen is in recordings of the real cluster-autoscaler 1.36.1; AKS' page cluster-autoscaler has the defaults.
"""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.azure import unready
from config.clouds.azure.settings import Azure, pinned_autoscaler
from config.clouds.azure.unready import Bounds
from config.clouds.traits import Cloud
from config.draft import Draft
from config.placement import node_pools
from config.problems import Problem

_PATH = "cloud.autoscaler"

_SECONDS = {"s": 1, "m": 60, "h": 3600}

_PROVISION_MINUTES = 15
"""AKS' default."""


def _seconds(text: str) -> int:
    return int(text[:-1]) * _SECONDS[text[-1]]


def _warning(key: str, what: str, remedy: str) -> Problem:
    return Problem(f"{_PATH}.{key}", what, remedy, warning=True)


def _expander(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    profile = azure.autoscaler
    if draft.spot_pools() and profile.expander != "priority":
        yield _warning(
            "expander",
            f"is {profile.expander}: spot pools need not grow first, and no fallback chain keeps its order",
            "write priority, or leave it out",
        )


def _provision_time(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    profile = azure.autoscaler
    if not draft.spot_pools() or not profile.max_node_provision_time:
        return
    limit = profile.max_node_provision_time
    if draft.pools_where(lambda pool: pool.reclaimable and pool.fallback) and _seconds(limit) > _PROVISION_MINUTES * 60:
        yield _warning(
            "maxNodeProvisionTime",
            f"is {limit}: for that long a spot pool whose machines never come holds back its fallback",
            f"at most {_PROVISION_MINUTES}m, better 5m",
        )
    if profile.scan_interval and _seconds(profile.scan_interval) >= _seconds(limit):
        yield _warning(
            "scanInterval",
            f"is {profile.scan_interval}: machines that do not come within {limit} are given up at the next look only",
            "much shorter than maxNodeProvisionTime; AKS has 10s",
        )


def _unready(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Whether losing some pools leaves so few nodes that the autoscaler stops for all."""
    release, system = draft.release, draft.system_pool
    if not release or not system or not draft.all_pools:
        return
    bounds = list(_bounds(draft, cloud))
    limits = unready.chosen(azure.autoscaler, pinned_autoscaler(release), bounds, system.min_nodes)
    stopping = [loss for loss in unready.losses(bounds, system.min_nodes) if limits.stopped_by(loss)]
    if stopping:
        loss = max(stopping, key=lambda one: one.percentage)
        yield _warning(
            "maxTotalUnreadyPercentage",
            f"is {limits.percentage}: {loss.lost} unready nodes ({', '.join(loss.pools)}) can be {loss.percentage} % of all, and"
            " the autoscaler then stops for every pool, fallback included",
            f"leave it and okTotalUnreadyCount out, or let that be {loss.lost}",
        )


def _bounds(draft: Draft, cloud: Cloud) -> Iterator[Bounds]:
    for pool in draft.pools.values():
        least = pool.least_nodes(draft.cloud)
        if least is None:
            least = 0 if pool.reclaimable or cloud.gpus(pool)[0] else 1
        yield Bounds(pool.name, least, pool.most_nodes(draft.cloud), pool.reclaimable)
        if twin := node_pools.twin_name(pool, cloud):
            steps = (step.on_demand for step in pool.fallback if step.on_demand)
            yield Bounds(twin, 0, next(steps).max_nodes, reclaimable=False)


def _unread_order(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.growth and draft.growth.order and azure.autoscaler.expander != "priority":
        yield Problem(
            "growth.order",
            f"is never read: {_PATH}.expander is {azure.autoscaler.expander}",
            "remove it, or set that to priority",
            warning=True,
        )


def _unread_groups(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.expander and draft.expander.other_groups and azure.autoscaler.expander != "priority":
        yield Problem(
            "expander.otherGroups",
            f"is never read: {_PATH}.expander is {azure.autoscaler.expander}",
            "remove it, or set that to priority",
        )


NEW_CLUSTER_RULES = (_expander, _provision_time, _unready, _unread_order, _unread_groups)
