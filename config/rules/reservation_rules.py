"""Checks of pools on reserved capacity, on any cloud. Each cloud's folder has the form of a reservation."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.pool import Pool
from config.rules.draft import Draft


def _on_demand(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if "reservation" in pool.model_fields_set and not cloud.makes_pools:
        what = f"is set, but {cloud.title} has no such setting"
        yield Problem(f"{path}.reservation", what, "remove it: these nodes exist already")
    # Azure: learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview, "Limitations". Google: skypilot-org/skypilot
    # pull request 2393 (spot); GoogleCloudPlatform/cluster-autoscaler, pkg/autoprovisioning/injection.go (flex-start).
    if pool.reservation and pool.reclaimable:
        yield Problem(
            f"{path}.reservation",
            f"is set on a pool that is {pool.capacity}: reserved machines are bought on demand",
            "remove it, or write `capacity: on-demand`",
        )


POOL_RULES = (_on_demand,)
