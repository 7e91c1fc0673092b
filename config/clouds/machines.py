"""Machine sizes and their GPUs, as data. Each cloud's folder has the rows, and a README.md with their sources."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
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
    spot: Literal["yes", "no", "unknown"] = "unknown"
    status: Literal["current", "retiring", "retired"] = "current"
    retirement_date: str = ""
    """ISO date, empty when none is announced."""
    replacement: str = ""
    """The size to use instead, empty when none is named."""
    cheaper: tuple[str, ...] = ()
    """Sizes with as many GPUs of a model that costs less than the replacement's."""
    attachable: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """GPU models that can be attached to a machine without any, and how many of each."""
    on_demand: bool = True
    """False for machines that are sold as spot, or reserved, only."""
    family: str = ""
    """The cloud's family of machines, where it decides anything."""
    local_disk_gib: float | None = 0
    """GiB of the machine's own disk where an operating system may be put, 0 for none; None where it is not known."""


@dataclass(frozen=True)
class Attachable:
    """A GPU model that is attached to a machine, and how long it is sold."""

    model: str
    status: Literal["current", "retiring", "retired"]
    end: str
    """ISO date, empty when none is announced."""
    replacement: str
    """A machine with other GPUs to use instead."""


def rows(folder: str, name: str) -> list[dict[str, str]]:
    """The rows of a table `name`.csv that lies beside the module `folder`, which passes its `__file__`."""
    with (Path(folder).parent / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))
