"""Regions, their zones, and which zones have which GPU.

Both are read as data from `config/clouds`, whose README has their sources. GPUs with `*` are taken as offered everywhere.
"""

from functools import cache

from sandbox.cloud.facts import catalogue
from sandbox.gcp import gcp_ids

# https://cloud.google.com/kubernetes-engine/docs/concepts/regional-clusters: three zones of the region by default.
_ZONES_OF_A_CLUSTER = 3


@cache
def _regions() -> dict[str, tuple[str, ...]]:
    return {
        row["region"]: tuple(f"{row['region']}-{letter}" for letter in row["zones"].split())
        for row in catalogue("gcp", "zones")
    }


@cache
def offers() -> dict[str, frozenset[str]]:
    """The zones of each GPU; `*` for all."""
    return {row["accelerator"]: frozenset(row["zones"].split()) for row in catalogue("gcp", "gpu-zones")}


def zones(region: str) -> tuple[str, ...]:
    """The zones of a region; none for an unknown region."""
    return _regions().get(region, ())


def exists(location: str) -> bool:
    """Whether a region or zone is one of Google's."""
    return location in _regions() or location in zones(gcp_ids.region(location))


def default_zones(location: str) -> list[str]:
    """The zones of the nodes of a cluster that names none."""
    return [location] if gcp_ids.is_zone(location) else list(zones(location)[:_ZONES_OF_A_CLUSTER])


def offered(accelerator: str, zone: str) -> bool:
    known = offers().get(accelerator, frozenset())
    return zone in known or "*" in known
