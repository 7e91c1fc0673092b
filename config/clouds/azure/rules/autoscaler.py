"""Checks of what the cluster autoscaler is told. They warn: AKS takes all of it, but spot and fallback suffer.

What was seen is in recordings of the real cluster-autoscaler 1.36.1; AKS' page cluster-autoscaler has the defaults.
"""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.azure import unready
from config.clouds.azure.settings import AzureAutoscaler
from config.clouds.azure.unready import Bounds
from config.clouds.traits import Cloud
from config.draft import Draft
from config.model.fields import readable
from config.model.stack import Pool
from config.placement import node_pools
from config.problems import Problem

_PATH = "cloud.autoscaler"

_SECONDS = {"s": 1, "m": 60, "h": 3600}

_PROVISION_MINUTES = 15
"""AKS' default."""


def _profile(draft: Draft) -> AzureAutoscaler | None:
    """What is set in the stack file, for clusters with spot pools."""
    return draft.new_aks.autoscaler if draft.new_aks and draft.spot_pools() else None


def _chains(draft: Draft) -> list[Pool]:
    return [pool for pool in draft.spot_pools() if readable(pool, "fallback") and pool.fallback]


def _seconds(text: str) -> int:
    return int(text[:-1]) * _SECONDS[text[-1]]


def _warning(key: str, what: str, remedy: str) -> Problem:
    return Problem(f"{_PATH}.{key}", what, remedy, warning=True)


def _expander(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    profile = _profile(draft)
    if profile and profile.expander != "priority":
        yield _warning(
            "expander",
            f"is {profile.expander}: spot pools need not grow first, and no fallback chain keeps its order",
            "write priority, or leave it out",
        )


def _provision_time(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    profile = _profile(draft)
    if not profile or not profile.max_node_provision_time:
        return
    limit = profile.max_node_provision_time
    if _chains(draft) and _seconds(limit) > _PROVISION_MINUTES * 60:
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


def _unready(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Whether losing some pools leaves so few nodes that the autoscaler stops for all."""
    aks, release, system = draft.new_aks, draft.release, draft.system_pool
    if not aks or not release or not system or not draft.all_pools:
        return
    bounds = list(_bounds(draft, cloud))
    limits = unready.chosen(aks.autoscaler, release.azure_autoscaler, bounds, system.min_nodes)
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
            least = 0 if pool.vanishes or cloud.gpus(pool)[0] else 1
        yield Bounds(pool.name, least, pool.most_nodes(draft.cloud), pool.vanishes)
        if twin := node_pools.twin_name(pool, cloud):
            steps = (step.on_demand for step in pool.fallback if step.on_demand)
            yield Bounds(twin, 0, next(steps).max_nodes, vanishes=False)


RULES = (_expander, _provision_time, _unready)
