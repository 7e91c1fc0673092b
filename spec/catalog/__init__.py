"""Machine sizes and their GPUs, as data. Where each row comes from: README.md beside this file."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Machine:
    """One machine size of a cloud."""

    size: str
    vcpus: int
    memory_gib: float
    gpus: int
    """Whole `nvidia.com/gpu` (or other devices) a node of this size offers: a fraction of a card counts as one."""
    gpu_model: str
    local_disk: bool
    """Whether there is a temporary or NVMe disk in the machine itself."""
    spot: Literal["yes", "no", "unknown"]
    status: Literal["current", "retiring", "retired"]
    retirement_date: str
    """ISO date, empty when none is announced."""
    replacement: str
    """The size to use instead, empty when none is named."""

    @property
    def local_disk_gib(self) -> float | None:
        """GiB of the local disk where an operating system may be put; None where it is not known.

        Ddsv5, Dadsv5 and Edsv5 have one temporary disk, which grows with the vCPUs, and no cache (their size pages). Others
        have a cache or NVMe disks beside it, and which one Azure takes depends on the series.
        """
        if not self.local_disk:
            return 0
        return 37.5 * self.vcpus if re.fullmatch(r"Standard_(D\d+a?|E\d+)ds_v5", self.size) else None


@cache
def azure() -> dict[str, Machine]:
    """Azure's sizes by lower-cased name: Azure compares size names without case."""
    with (Path(__file__).parent / "azure.csv").open(newline="") as file:
        return {
            row["size"].lower(): Machine(
                size=row["size"],
                vcpus=int(row["vcpus"]),
                memory_gib=float(row["memory_gib"]),
                gpus=math.ceil(float(row["gpus"] or 0)),
                gpu_model=row["gpu_model"],
                local_disk=row["local_disk"] == "yes",
                spot=row["spot"],  # type: ignore[arg-type]  # the test of the catalogue checks the closed sets
                status=row["status"],  # type: ignore[arg-type]
                retirement_date=row["retirement_date"],
                replacement=row["replacement"],
            )
            for row in csv.DictReader(file)
        }
