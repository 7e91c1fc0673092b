"""Azure's regions, and which of them have availability zones. Sources: README.md beside this file."""

from __future__ import annotations

from functools import cache

from config.clouds.machines import rows

READ = "November 2026"
"""The month in which the list was read."""


@cache
def regions() -> dict[str, str]:
    """`yes`, `no` or `unknown`, whether it has availability zones, by a region's short name."""
    return {row["region"]: row["zones"] for row in rows(__file__, "regions")}
