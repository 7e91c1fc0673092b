"""Checks of the disks of nodes."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.traits import Cloud
from config.draft import Draft
from config.model.pool import AnyPool, Pool
from config.problems import Problem

_DEFAULT_GB = 128
"""Of an ephemeral disk that names no size (learn.microsoft.com/azure/aks/concepts-storage)."""


def _ephemeral(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    machine = cloud.machine(pool.machine)
    if pool.os_disk.type != "Ephemeral" or machine is None or machine.local_disk_gib is None:
        return
    has = machine.local_disk_gib
    needs = pool.os_disk.size_gb or _DEFAULT_GB
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
            f"is {needs}{'' if pool.os_disk.size_gb else ' by default'}, but the local disk of {machine.size} has {has:g}",
            f"at most {has:g}, or `type: Managed`",
        )


def _kept_when_stopped(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    deallocate = pool.reclaimable and pool.spot and pool.spot.eviction_policy == "Deallocate"
    if deallocate and pool.os_disk.type == "Ephemeral":
        # learn.microsoft.com/azure/virtual-machines/ephemeral-os-disks-faq
        yield Problem(
            f"{path}.osDisk.type",
            "is Ephemeral: such machines cannot be stopped and kept, as evictionPolicy Deallocate wants",
            "write Managed, or leave out evictionPolicy",
        )


ANY_POOL_RULES = (_ephemeral,)
POOL_RULES = (_kept_when_stopped,)
