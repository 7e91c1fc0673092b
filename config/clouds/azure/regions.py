"""Azure's regions, and which of them have availability zones. Sources: README.md beside this file."""

from __future__ import annotations

from functools import cache

from config.clouds.azure.settings import Azure
from config.clouds.machines import rows
from config.model.cloud import CloudSettings
from config.model.pool import Pool

READ = "November 2026"
"""The month in which the names of the regions were read."""

ZONES_OF = "March 2025"
"""The month of the page that says which of them have zones."""


@cache
def regions() -> dict[str, str]:
    """`yes`, `no` or `unknown`, whether it has availability zones, by a region's short name."""
    return {row["region"]: row["zones"] for row in rows(__file__, "regions")}


def durable_disks(azure: CloudSettings | None) -> tuple[str, dict[str, str]]:
    """As `Cloud.durable_disks`: copies in all zones, where the region has some (learn.microsoft.com/azure/aks/azure-disk-csi)."""
    location = azure.location if isinstance(azure, Azure) else None
    copies = "ZRS" if location and regions().get(location) == "yes" else "LRS"
    return "disk.csi.azure.com", {"skuName": f"StandardSSD_{copies}"}


STORAGE_CLASSES = frozenset(
    (
        *("default", "managed", "managed-csi", "managed-premium", "managed-csi-premium"),
        *("azurefile", "azurefile-csi", "azurefile-premium", "azurefile-csi-premium"),
    )
)
"""learn.microsoft.com/azure/aks/concepts-storage"""


def pool_zones(azure: CloudSettings | None, pool: Pool) -> tuple[tuple[str, ...], int]:
    """As `Cloud.pool_zones`. A region with zones has three (learn.microsoft.com/azure/reliability/availability-zones-overview)."""
    location = azure.location if isinstance(azure, Azure) else None
    return tuple(pool.zones), 3 if location and regions().get(location) == "yes" else 0
