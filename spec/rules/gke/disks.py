"""Checks of the boot disks of nodes."""

from __future__ import annotations

from collections.abc import Iterator

from spec.clouds import Cloud
from spec.clouds.gcp import boot_disks
from spec.model import Pool, SystemPool
from spec.problems import Problem
from spec.rules.draft import Draft


def _type(path: str, pool: Pool | SystemPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    takes = boot_disks(pool.machine)
    if pool.gcp and pool.gcp.disk_type and takes and pool.gcp.disk_type not in takes:
        yield Problem(
            f"{path}.gcp.diskType",
            f"is {pool.gcp.disk_type}, from which {pool.machine} does not boot",
            f"leave it out, or one of: {', '.join(takes)}",
        )


ANY_POOL_RULES = (_type,)
