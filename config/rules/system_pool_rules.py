"""Checks of the system pool on any cloud."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.pool import Capacity
from config.rules.draft import Draft, has_gpus


def _machine(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not draft.makes_cluster or not draft.system_pool:
        return
    machine = cloud.machine(draft.system_pool.machine)
    if machine and machine.gpus:
        yield Problem(
            "systemPool.machine",
            f"{machine.size} has GPUs, which nothing in this pool uses",
            "use a size without GPUs",
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
        yield Problem(
            "systemPool.criticalAddonsOnly",
            "leaves Kubeflow's own pods nowhere to run: no other pool is on-demand, untainted and without GPUs",
            "set it to false, or add a general pool",
        )


RULES = (_machine, _critical_addons_only)
