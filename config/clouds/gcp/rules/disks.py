"""Checks of the boot disks of nodes."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.gcp.pool import nodes_of
from config.clouds.gcp.traits import DISKS_AS_REPORTED, boot_disks
from config.clouds.traits import Cloud
from config.draft import Draft
from config.model.pool import AnyPool
from config.problems import Problem


def _type(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    takes, nodes = boot_disks(pool.machine), nodes_of(pool)
    if nodes and nodes.disk_type and takes and nodes.disk_type not in takes:
        machine = cloud.machine(pool.machine)
        yield Problem(
            f"{path}.gcp.diskType",
            f"is {nodes.disk_type}, from which {pool.machine} does not boot",
            f"leave it out, or one of: {', '.join(takes)}",
            warning=machine is not None and machine.family in DISKS_AS_REPORTED,
        )


ANY_POOL_RULES = (_type,)
