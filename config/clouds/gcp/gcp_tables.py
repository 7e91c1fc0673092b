"""Google's machine types, attached GPUs, zones and release channels (sources: README.md here)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from config.clouds.tables import Attachable, Machine, Versions, minor_number, rows

ACCELERATORS = {
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
"""Google's names of GPU models -> those of all catalogues. Other names are the same."""

ATTACHABLE = {
    gpu.model: gpu
    for gpu in (
        # docs.cloud.google.com/compute/docs/eol/k80-eol
        Attachable("nvidia-k80", "retired", "2024-05-01", "g2-standard-8 (nvidia-l4)"),
        # GKE release notes
        Attachable(
            "nvidia-p100",
            "retired",
            "2026-09-15",
            "g2-standard-8 (nvidia-l4), or a2-highgpu-1g (nvidia-a100)",
        ),
        # Deprecated 2026-09-22
        Attachable("nvidia-t4", "retiring", "2027-08-01", "g2-standard-8 (nvidia-l4)"),
        Attachable("nvidia-p4", "retiring", "2027-08-01", "g2-standard-8 (nvidia-l4)"),
        Attachable("nvidia-v100", "current", "", ""),
    )
}
"""GPU models of N1 machines. Sources: README.md beside this file."""


@cache
def machines() -> dict[str, Machine]:
    """Return Google's machine types by name."""
    return {row["machine_type"]: _machine(row) for row in rows(__file__, "machines")}


@cache
def not_by_flex_start() -> frozenset[str]:
    """Return machine types that Google does not sell by flex-start, according to a source."""
    flags = {"no-flex-start", "reservation-only"}
    return frozenset(
        row["machine_type"]
        for row in rows(__file__, "machines")
        if flags & set(row["source"].split(";")[1:])
    )


def accelerator(model: str) -> str:
    """Return Google's name of a GPU model, as in node pools and the label gke-accelerator."""
    return next((google for google, catalogue in ACCELERATORS.items() if catalogue == model), model)


def _machine(row: Mapping[str, str]) -> Machine:
    flags = row["source"].split(";")[1:]
    pairs = (pair.split(":") for pair in row["attachable"].split())
    return Machine(
        size=row["machine_type"],
        vcpus=int(row["vcpus"]),
        memory_gib=float(row["memory_gib"]),
        gpus=math.ceil(float(row["gpus_fixed"] or 0)),
        gpu_model=ACCELERATORS.get(row["gpu_model"], row["gpu_model"]),
        spot=row["spot"],  # type: ignore[arg-type]
        status=row["status"],  # type: ignore[arg-type]
        replacement=row["replacement"],
        attachable={
            ACCELERATORS.get(model, model): tuple(map(int, counts.split("|")))
            for model, counts in pairs
        },
        on_demand=not {"spot-or-flex-start-only", "no-plain-on-demand", "reservation-only"}
        & set(flags),
        family=row["family"],
    )


READ = "November 2026"
"""The month in which the zones were read."""


@cache
def zones() -> dict[str, tuple[str, ...]]:
    """Return the zones of each region."""
    return {
        row["region"]: tuple(f"{row['region']}-{zone}" for zone in row["zones"].split())
        for row in rows(__file__, "zones")
    }


@cache
def gpu_zones() -> dict[str, frozenset[str]]:
    """Return the zones that offer a GPU, by Google's name; omit GPUs with unknown zones."""
    return {
        row["accelerator"]: frozenset(row["zones"].split())
        for row in rows(__file__, "gpu-zones")
        if row["zones"] != "*"
    }


@cache
def channels() -> dict[str, Versions]:
    """Return the Kubernetes versions of each release channel."""
    return {row.pop("channel"): Versions(**row) for row in rows(__file__, "channels")}


@cache
def all_channels() -> Versions:
    """Return the versions of all channels together."""
    every = channels().values()
    first, last = (
        min((each.first for each in every), key=minor_number),
        max((each.last for each in every), key=minor_number),
    )
    return Versions(first, last, max(each.read for each in every))


@dataclass(frozen=True)
class LocalSsds:
    """The local SSDs of a machine type."""

    fixed: int | None
    """How many it always has; None if the number is chosen."""
    counts: tuple[int, ...]
    """The numbers that it can have; empty for none."""


def local_ssds(machine: str) -> LocalSsds | None:
    """Return the local SSDs of a machine type; None if no source names it."""
    for row in rows(__file__, "local-ssds"):
        if re.fullmatch(row["machine"], machine):
            counts = tuple(int(count) for count in row["counts"].split("|") if count)
            return LocalSsds(counts[0] if row["kind"] == "fixed" else None, counts)
    return None
