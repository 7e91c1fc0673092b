"""Checks of the disks of nodes."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.azure.azure_pool import settings_of, spot_of
from config.clouds.traits import Cloud
from config.model.pool import AnyPool, Pool
from config.rules.draft import Draft

_DEFAULT_GB = 128
"""The size in GB of an ephemeral disk that names none (learn.microsoft.com/azure/aks/concepts-storage)."""


def _ephemeral(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    machine, disk = cloud.machine(pool.machine), settings_of(pool).os_disk
    if disk.type != "Ephemeral" or machine is None or machine.local_disk_gib is None:
        return
    has = machine.local_disk_gib
    needs = disk.size_gb or _DEFAULT_GB
    if not has:
        # learn.microsoft.com/azure/virtual-machines/ephemeral-os-disks
        yield Problem(
            f"{path}.osDisk.type",
            f"is Ephemeral, but {machine.size} has no local disk",
            "write Managed, or use a size with a d, such as Standard_D8ds_v5",
        )
    elif needs > has:
        yield Problem(
            f"{path}.osDisk.sizeGb",
            f"is {needs}{'' if disk.size_gb else ' by default'}, but the local disk of {machine.size} has {has:g}",
            f"at most {has:g}, or `type: Managed`",
        )


def _kept_when_stopped(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    deallocate = pool.reclaimable and spot_of(pool).eviction_policy == "Deallocate"
    if deallocate and settings_of(pool).os_disk.type == "Ephemeral":
        # learn.microsoft.com/azure/virtual-machines/ephemeral-os-disks-faq
        yield Problem(
            f"{path}.osDisk.type",
            "is Ephemeral: such machines cannot be stopped and kept, which evictionPolicy Deallocate needs",
            "write Managed, or leave out evictionPolicy",
        )


ANY_POOL_RULES = (_ephemeral,)
POOL_RULES = (_kept_when_stopped,)
