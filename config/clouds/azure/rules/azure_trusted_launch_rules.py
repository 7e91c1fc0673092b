"""Checks of Trusted Launch (learn.microsoft.com/azure/aks/use-trusted-launch)."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.azure.azure_pool import nodes_of
from config.clouds.traits import Cloud
from config.model.pool import Pool
from config.rules.draft import Draft, has_gpus


def _driver(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if nodes_of(pool).secure_boot and pool.install_driver and has_gpus(pool, cloud):
        yield Problem(
            f"{path}.azure.secureBoot",
            "is true, but AKS installs its GPU driver, which Secure Boot refuses",
            "remove it, or bring a signed driver with `installDriver: false`; `vtpm: true` may stay",
        )


POOL_RULES = (_driver,)
