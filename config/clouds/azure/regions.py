"""Azure's regions, and which of them have availability zones. Sources: README.md beside this file."""

from __future__ import annotations

from functools import cache

from config.clouds.machines import rows

READ = "November 2026"
"""The month in which the names of the regions were read."""

ZONES_OF = "March 2025"
"""The month of the page that says which of them have zones."""


_OTHER_CLOUDS = {
    "china": "Azure operated by 21Vianet",
    "usdod": "Azure Government",
    "usgov": "Azure Government",
    "usnat": "a cloud of Azure's of its own",
    "ussec": "a cloud of Azure's of its own",
}
"""Beginnings of regions of clouds that are not Azure's public one, and the cloud. Their endpoints, the ends of their addresses and
the audiences of their credentials are others
(learn.microsoft.com/azure/azure-government/compare-azure-government-global-azure, /azure/china/resources-developer-guide)."""


def other_cloud(region: str) -> str | None:
    """Return the cloud of a region that is not in Azure's public one; None for one that is."""
    return next(
        (cloud for beginning, cloud in _OTHER_CLOUDS.items() if region.startswith(beginning)), None
    )


@cache
def regions() -> dict[str, str]:
    """`yes`, `no` or `unknown`, whether it has availability zones, by a region's short name."""
    return {row["region"]: row["zones"] for row in rows(__file__, "regions")}
