"""Azure's machine sizes, regions and Kubernetes versions. Sources: README.md beside this file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from config.clouds.tables import Machine, Versions, rows


@cache
def machines() -> dict[str, Machine]:
    """Return Azure's sizes by lower-cased name; Azure compares size names without case."""
    listed = [_machine(row) for row in rows(__file__, "machines")]
    return {
        machine.size.lower(): replace(machine, cheaper=tuple(_cheaper(machine, listed)))
        for machine in listed
    }


# Named by Microsoft beside the successor of NCv3 (`alt=` in the table); for NC and NCv2 ours.
_CHEAPER = (r"Standard_NC\d+as_T4_v3", r"Standard_NV(36|72)ads_A10_v5")
"""Series with whole cards that cost less than A100 and H100; no A10 sizes with parts of a card."""


def _cheaper(machine: Machine, listed: list[Machine]) -> Iterator[str]:
    if machine.status == "current" or not machine.gpus:
        return
    for series in _CHEAPER:
        if re.fullmatch(series, machine.replacement):
            return  # its successor is the cheap one already
        same = [
            other
            for other in listed
            if re.fullmatch(series, other.size) and other.gpus == machine.gpus
        ]
        smallest = min(
            (other for other in same if other.vcpus >= machine.vcpus),
            key=lambda other: other.vcpus,
            default=None,
        )
        smallest = smallest or max(same, key=lambda other: other.vcpus, default=None)
        if smallest and smallest.size != machine.replacement:
            yield smallest.size


def _machine(row: Mapping[str, str]) -> Machine:
    return Machine(
        size=row["size"],
        vcpus=int(row["vcpus"]),
        memory_gib=float(row["memory_gib"]),
        gpus=math.ceil(float(row["gpus"] or 0)),
        gpu_model=row["gpu_model"],
        whole_gpus=float(row["gpus"] or 0).is_integer(),
        spot=row["spot"],  # type: ignore[arg-type]
        status=row["status"],  # type: ignore[arg-type]
        retirement_date=row["retirement_date"],
        replacement=row["replacement"],
        family=row["family"],
        local_disk_gib=_local_disk_gib(row["size"], int(row["vcpus"]))
        if row["local_disk"] == "yes"
        else 0,
    )


_T4_DISKS = {4: 176.0, 8: 352.0, 16: 352.0, 64: 2816.0}
"""GiB of NCasT4_v3, by vCPUs (page sizes/gpu-accelerated/ncast4v3-series of virtual machines)."""


def _local_disk_gib(size: str, vcpus: int) -> float | None:
    """Return GiB of a size's temporary disk; None if unknown.

    Ddsv5, Dadsv5 and Edsv5 have one temporary disk, which grows with the vCPUs, and no cache (their
    size pages). NCasT4_v3 have a smaller cache beside it (MicrosoftDocs/azure-docs issue 102314).
    Others have a cache or NVMe disks beside it; Azure's choice depends on the series.
    """
    if re.fullmatch(r"Standard_NC\d+as_T4_v3", size):
        return _T4_DISKS[vcpus]
    return 37.5 * vcpus if re.fullmatch(r"Standard_(D\d+a?|E\d+)ds_v5", size) else None


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
"""Other clouds of Azure, by the beginnings of their regions. They have other endpoints, address
suffixes and credential audiences
(learn.microsoft.com/azure/azure-government/compare-azure-government-global-azure,
/azure/china/resources-developer-guide)."""


def other_cloud(region: str) -> str | None:
    """Return the cloud of a region that is not in Azure's public one; None for one that is."""
    return next(
        (cloud for beginning, cloud in _OTHER_CLOUDS.items() if region.startswith(beginning)), None
    )


@cache
def regions() -> dict[str, str]:
    """Return by region whether it has availability zones: `yes`, `no` or `unknown`."""
    return {row["region"]: row["zones"] for row in rows(__file__, "regions")}


@cache
def versions() -> dict[str, Versions]:
    """Return the versions by AKS' name of a support plan."""
    return {row.pop("support"): Versions(**row) for row in rows(__file__, "versions")}
