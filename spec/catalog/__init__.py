"""Machine sizes and their GPUs, as data. Where each row comes from: README.md beside this file."""

from __future__ import annotations

import csv
import math
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
    spot: Literal["yes", "no", "unknown"]
    status: Literal["current", "retiring", "retired"]
    retirement_date: str
    """ISO date, empty when none is announced."""
    replacement: str
    """The size to use instead, empty when none is named."""


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
                spot=row["spot"],  # type: ignore[arg-type]  # the test of the catalogue checks the closed sets
                status=row["status"],  # type: ignore[arg-type]
                retirement_date=row["retirement_date"],
                replacement=row["replacement"],
            )
            for row in csv.DictReader(file)
        }
