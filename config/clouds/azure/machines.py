"""Azure's machine sizes. Sources: README.md beside this file."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache

from config.clouds.machines import Machine, rows


@cache
def machines() -> dict[str, Machine]:
    """Azure's sizes by lower-cased name: Azure compares size names without case."""
    return {row["size"].lower(): _machine(row) for row in rows(__file__, "machines")}


def _machine(row: Mapping[str, str]) -> Machine:
    return Machine(
        size=row["size"],
        vcpus=int(row["vcpus"]),
        memory_gib=float(row["memory_gib"]),
        gpus=math.ceil(float(row["gpus"] or 0)),
        gpu_model=row["gpu_model"],
        spot=row["spot"],  # type: ignore[arg-type]  # the test of the catalogue checks the closed sets
        status=row["status"],  # type: ignore[arg-type]
        retirement_date=row["retirement_date"],
        replacement=row["replacement"],
        local_disk_gib=_local_disk_gib(row["size"], int(row["vcpus"])) if row["local_disk"] == "yes" else 0,
    )


def _local_disk_gib(size: str, vcpus: int) -> float | None:
    """GiB of the temporary disk of a size that has a local disk; None where it is not known.

    Ddsv5, Dadsv5 and Edsv5 have one temporary disk, which grows with the vCPUs, and no cache (their size pages). Others
    have a cache or NVMe disks beside it, and which one Azure takes depends on the series.
    """
    return 37.5 * vcpus if re.fullmatch(r"Standard_(D\d+a?|E\d+)ds_v5", size) else None
