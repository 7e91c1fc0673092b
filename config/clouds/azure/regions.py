"""Azure's regions, and which of them have availability zones. Sources: README.md beside this file."""

from __future__ import annotations

from functools import cache

from config.clouds.machines import rows

READ = "November 2026"
"""The month in which the names of the regions were read."""

ZONES_OF = "March 2025"
"""The month of the page that says which of them have zones."""


@cache
def regions() -> dict[str, str]:
    """`yes`, `no` or `unknown`, whether it has availability zones, by a region's short name."""
    return {row["region"]: row["zones"] for row in rows(__file__, "regions")}
