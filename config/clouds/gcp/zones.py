"""The zones of Google's regions, and those in which a GPU is offered. Sources: README.md beside this file."""

from __future__ import annotations

from functools import cache

from config.clouds.gcp.machines import accelerator
from config.clouds.gcp.settings import Gcp
from config.clouds.machines import Machine, rows
from config.model.cloud import CloudSettings
from config.model.pool import Pool

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


def pool_zones(machine: Machine | None, gcp: CloudSettings | None, pool: Pool) -> tuple[tuple[str, ...], int]:
    """As `Cloud.pool_zones`, for the pool's machine of the catalogue."""
    if not isinstance(gcp, Gcp) or not gcp.region or not gcp.place:
        return tuple(pool.zones), 0
    named = tuple(pool.zones or gcp.zones) or ((gcp.place,) if gcp.zonal else ())
    offering = gpu_zones().get(accelerator((machine.gpu_model if machine else "") or pool.gpu_model or ""))
    return named, len([zone for zone in zones().get(gcp.region, ()) if offering is None or zone in offering])


def durable_disks(gcp: CloudSettings | None) -> tuple[str, dict[str, str]]:
    """As `Cloud.durable_disks`: copies in two zones, which a zonal cluster has no nodes in (page regional-pd)."""
    driver, parameters = workspace_disks(gcp)
    regional = isinstance(gcp, Gcp) and not gcp.zonal
    return driver, {**parameters, **({"replication-type": "regional-pd"} if regional else {})}


def workspace_disks(gcp: CloudSettings | None) -> tuple[str, dict[str, str]]:
    """As `Cloud.workspace_disks`: in one zone. A regional disk has 10 GiB at least, and optimized machines take none
    (pages about-regional-persistent-disk, troubleshooting/storage)."""
    return "pd.csi.storage.gke.io", {"type": "pd-balanced"}


STORAGE_CLASSES = frozenset(("standard", "standard-rwo", "premium-rwo"))
"""docs.cloud.google.com/kubernetes-engine/docs/concepts/persistent-volumes"""
