"""The zones of Google's regions, and those in which a GPU is offered. Sources: README.md beside this file."""

from __future__ import annotations

from functools import cache

from config.clouds.machines import rows

READ = "November 2026"
"""The month in which the zones were read."""


@cache
def zones() -> dict[str, tuple[str, ...]]:
    """The zones of each region."""
    return {
        row["region"]: tuple(f"{row['region']}-{zone}" for zone in row["zones"].split())
        for row in rows(__file__, "zones")
    }


@cache
def gpu_zones() -> dict[str, frozenset[str]]:
    """The zones that offer a GPU, by Google's name of it; without the GPUs whose zones are unknown."""
    return {
        row["accelerator"]: frozenset(row["zones"].split())
        for row in rows(__file__, "gpu-zones")
        if row["zones"] != "*"
    }
