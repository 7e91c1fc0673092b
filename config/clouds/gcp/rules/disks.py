"""Checks of the boot disks of nodes."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.gcp.traits import boot_disks
from config.clouds.traits import Cloud
from config.draft import Draft
from config.model.stack import Pool, SystemPool
from config.problems import Problem


def _type(path: str, pool: Pool | SystemPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    takes = boot_disks(pool.machine)
    if pool.gcp and pool.gcp.disk_type and takes and pool.gcp.disk_type not in takes:
        yield Problem(
            f"{path}.gcp.diskType",
            f"is {pool.gcp.disk_type}, from which {pool.machine} does not boot",
            f"leave it out, or one of: {', '.join(takes)}",
        )


ANY_POOL_RULES = (_type,)
