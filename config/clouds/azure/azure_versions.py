"""The Kubernetes versions of AKS, with and without long-term support. Sources: README.md beside this file."""

from __future__ import annotations

from functools import cache

from config.clouds.machines import rows
from config.clouds.versions import Versions


@cache
def versions() -> dict[str, Versions]:
    """The versions by AKS' name of a support plan."""
    return {row.pop("support"): Versions(**row) for row in rows(__file__, "versions")}
