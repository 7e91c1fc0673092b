"""Rules of flex-start pools, Google's queue for GPUs (GKE's pages dws, dws-flex-start-training)."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.gcp.gcp_pool import options_of
from config.clouds.gcp.gcp_tables import not_by_flex_start
from config.clouds.tables import minor_number
from config.clouds.traits import Cloud
from config.model.cluster import seconds
from config.model.pool import Capacity, Pool
from config.model.reading import written
from config.placement import object_names
from config.rules.chain_rules import accepted_wait
from config.rules.draft import Draft, has_gpus
from config.rules.spot_rules import ALWAYS_ONE

_SINCE = 32
"""GPUs need 1.32.2-gke.1652000 (page dws, "Requirements"); 1.33.0-gke.1712000 is for TPUs."""

_LEAST, _MOST = 10 * 60, 7 * 24 * 3600
"""Seconds. Seven days: page dws; ten minutes: GoogleCloudPlatform/cluster-autoscaler,
pkg/autoprovisioning/injection.go."""

_STEP = 15 * 60
"""Seconds that GKE's autoscaler waits for a flex-start machine before it backs off; Google may
change this default (the same program of 2026-08-21, DefaultFlexStartCapacityCheckWaitTime)."""


def _version(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    version = draft.kubernetes_version
    if pool.capacity == Capacity.FLEX_START and version and minor_number(version) < _SINCE:
        yield Problem(
            f"{path}.capacity",
            f"is flex-start, which needs Kubernetes 1.32, not {version}",
            "take another release",
        )


def _duration(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    options = options_of(pool)
    if options is None or not written(options, "max_run_duration"):
        return
    where = f"{path}.gcp.maxRunDuration"
    if pool.capacity != Capacity.FLEX_START:
        what = f"is set on a pool that is {pool.capacity}: only flex-start machines have a set end"
        yield Problem(where, what, "remove it, or write `capacity: flex-start`")
    elif not _LEAST <= seconds(options.max_run_duration or "168h") <= _MOST:
        yield Problem(where, f"is {options.max_run_duration}", "10m to 168h, seven days")


def _upgrade(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # Page node-pool-upgrade-strategies: short-lived upgrades; crossplane-contrib/provider-upjet-gcp
    # issue 1028.
    if pool.capacity == Capacity.FLEX_START and written(pool, "upgrade"):
        yield Problem(
            f"{path}.upgrade",
            "is set on a flex-start pool: its nodes run until they end, and new ones are upgraded",
            "remove it",
        )


def _bought_once(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # GoogleCloudPlatform/cluster-toolkit pull request 4027
    if pool.capacity == Capacity.FLEX_START and written(pool, "spot"):
        yield Problem(
            f"{path}.spot",
            "is set on a flex-start pool: a machine is bought in one way",
            "write `capacity: spot`",
        )


def _machine(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.capacity != Capacity.FLEX_START:
        return
    if pool.machine.lower() in not_by_flex_start():
        yield Problem(
            f"{path}.capacity", f"{pool.machine} is not sold by flex-start", "use another size"
        )
    elif not has_gpus(pool, cloud):
        # The page names GPUs, TPUs and H4D; that others are refused no source says.
        yield Problem(
            f"{path}.capacity",
            "is flex-start on a machine without GPUs, for which Google does not offer it",
            "write `capacity: spot`, or use a machine with GPUs",
            warning=True,
        )


def _least(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.capacity == Capacity.FLEX_START and pool.least_nodes(draft.cloud):
        options = options_of(pool)
        key = "gcp.minNodesPerZone" if options and options.min_nodes_per_zone else "minNodes"
        yield Problem(
            f"{path}.{key}",
            "keeps machines that Google ends one by one: each waits in the queue again",
            f"leave it out: flex-start pools begin at 0; {ALWAYS_ONE}",
            warning=True,
        )


def _wait(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Warn if pods wait longer for the steps after flex-start than the team accepts."""
    if not pool.reclaimable or not pool.fallback:
        return
    capacities = dict(draft.of_pools(lambda other: (other.name, other.capacity)))
    chain = object_names.chain(pool)
    before_last = chain if object_names.twin_name(pool, cloud) else chain[:-1]
    flex = [name for name in before_last if capacities.get(name) == Capacity.FLEX_START]
    wait, accepted = len(flex) * _STEP, accepted_wait(draft)
    if wait > seconds(accepted):
        yield Problem(
            f"{path}.fallback",
            f"tries {', '.join(flex)} before its last step, and GKE waits 15 minutes for each "
            f"flex-start machine: {wait // 60} minutes, more than growth.acceptedWait, which is "
            f"{accepted}",
            f"put flex-start last, or write `growth.acceptedWait: {wait // 60}m`",
            warning=True,
        )


POOL_RULES = (_version, _duration, _upgrade, _bought_once, _machine, _least, _wait)
