"""Machine sizes and their GPUs, as data. Where each row comes from: README.md beside this file."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
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
    attachable: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """GPU models that can be attached to a machine without any, and how many of each."""
    on_demand: bool = True
    """False for machines that are to be had as spot, or reserved, only."""
    family: str = ""
    """The cloud's family of machines, where it decides anything."""

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
    with (Path(__file__).parent / "azure" / "machines.csv").open(newline="") as file:
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


GCP_ACCELERATORS = {
    "nvidia-tesla-k80": "nvidia-k80",
    "nvidia-tesla-p4": "nvidia-p4",
    "nvidia-tesla-p100": "nvidia-p100",
    "nvidia-tesla-t4": "nvidia-t4",
    "nvidia-tesla-v100": "nvidia-v100",
    "nvidia-tesla-a100": "nvidia-a100",
    "nvidia-h100-80gb": "nvidia-h100",
    "nvidia-h100-mega-80gb": "nvidia-h100-mega",
    "nvidia-h200-141gb": "nvidia-h200",
}
"""Google's names of GPU models -> those of both clouds' catalogues. Names that are not here are the same."""


@dataclass(frozen=True)
class Attachable:
    """A GPU model that is attached to a machine, and how long it is to be had."""

    model: str
    status: Literal["current", "retiring", "retired"]
    end: str
    """ISO date, empty when none is announced."""
    replacement: str
    """A machine with other GPUs to use instead."""


GCP_ATTACHABLE = {
    gpu.model: gpu
    for gpu in (
        # docs.cloud.google.com/compute/docs/eol/k80-eol
        Attachable("nvidia-k80", "retired", "2024-05-01", "g2-standard-8 (nvidia-l4)"),
        # GKE release notes
        Attachable("nvidia-p100", "retired", "2026-09-15", "g2-standard-8 (nvidia-l4), or a2-highgpu-1g (nvidia-a100)"),
        # Deprecated 2026-09-22
        Attachable("nvidia-t4", "retiring", "2027-08-01", "g2-standard-8 (nvidia-l4)"),
        Attachable("nvidia-p4", "retiring", "2027-08-01", "g2-standard-8 (nvidia-l4)"),
        Attachable("nvidia-v100", "current", "", ""),
    )
}
"""GPU models of N1 machines. Sources: README.md beside this file."""


@cache
def gcp() -> dict[str, Machine]:
    """Google's machine types by name."""
    with (Path(__file__).parent / "gcp" / "machines.csv").open(newline="") as file:
        return {row["machine_type"]: _google(row) for row in csv.DictReader(file)}


@cache
def gcp_zones() -> dict[str, tuple[str, ...]]:
    """The zones of each of Google's regions."""
    return {row["region"]: tuple(f"{row['region']}-{zone}" for zone in row["zones"].split()) for row in _rows("zones")}


@cache
def gcp_gpu_zones() -> dict[str, frozenset[str]]:
    """Where a GPU is offered, by Google's name of it; without those of which that is not known."""
    return {row["accelerator"]: frozenset(row["zones"].split()) for row in _rows("gpu-zones") if row["zones"] != "*"}


@dataclass(frozen=True)
class Channel:
    """The Kubernetes versions of a release channel of GKE, such as 1.34 to 1.36, and the month of that."""

    first: str
    last: str
    read: str

    def has(self, minor: str) -> bool:
        """Whether a minor version is between its first and its last."""
        return _minor(self.first) <= _minor(minor) <= _minor(self.last)


@cache
def gke_channels() -> dict[str, Channel]:
    """GKE's release channels by name."""
    return {row.pop("channel"): Channel(**row) for row in _rows("channels")}


def _minor(version: str) -> int:
    return int(version.split(".")[1])


def _rows(name: str) -> list[dict[str, str]]:
    with (Path(__file__).parent / "gcp" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def _google(row: Mapping[str, str]) -> Machine:
    flags = row["source"].split(";")[1:]
    pairs = (pair.split(":") for pair in row["attachable"].split())
    return Machine(
        size=row["machine_type"],
        vcpus=int(row["vcpus"]),
        memory_gib=float(row["memory_gib"]),
        gpus=math.ceil(float(row["gpus_fixed"] or 0)),
        gpu_model=GCP_ACCELERATORS.get(row["gpu_model"], row["gpu_model"]),
        local_disk=False,
        spot=row["spot"],  # type: ignore[arg-type]
        status=row["status"],  # type: ignore[arg-type]
        retirement_date="",
        replacement=row["replacement"],
        attachable={GCP_ACCELERATORS.get(model, model): tuple(map(int, counts.split("|"))) for model, counts in pairs},
        on_demand=not {"spot-or-flex-start-only", "no-plain-on-demand", "reservation-only"} & set(flags),
        family=row["family"],
    )
