"""Tables: machines, Kubernetes versions, prices, other tools' keys."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from config.base.near import bare
from config.model.pool import Capacity


@dataclass(frozen=True)
class Machine:
    """One machine size of a cloud."""

    size: str
    vcpus: int
    memory_gib: float
    gpus: int
    """Whole `nvidia.com/gpu` (or other devices) of a node; a fraction of a card counts as one."""
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
    """GiB of the machine's own disk for an operating system, 0 for none; None if unknown."""
    whole_gpus: bool = True
    """False where a GPU is a part of a card."""

    @property
    def short_gpu(self) -> str:
        """The GPU model without its maker, such as t4; empty where it is not of NVIDIA."""
        short = re.match(r"nvidia-(?:tesla-)?(\w+)", self.gpu_model)
        return short[1] if short else ""


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
    """Return the rows of the table `name`.csv beside the module with this `__file__`."""
    with (Path(folder).parent / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@dataclass(frozen=True)
class Versions:
    """The minor versions of Kubernetes that a cloud offered, such as 1.34 to 1.37, and when."""

    first: str
    last: str
    read: str

    def has(self, minor: str) -> bool:
        """Return whether a minor version is between the first and the last."""
        return minor_number(self.first) <= minor_number(minor) <= minor_number(self.last)


def minor_number(version: str) -> int:
    """Return 35 for a version such as 1.35 or 1.35.7."""
    return int(version.split(".")[1])


class ForeignKey(NamedTuple):
    """The key of the stack file that another tool's name means."""

    key: str
    """The key, or its path from the object; empty if there is none."""
    remedy: str = ""
    """What to do if the value cannot be taken over as it is. `<clusterWindow.day or Saturday>` is
    the value at this path inside it, `< or l4>` the value itself, or else the word after `or`."""
    beside: str = ""
    """A key of the same object which says this already."""
    then: str = ""
    """What to do beside that key."""


ForeignKeys: TypeAlias = Callable[[], Mapping[tuple[str, str], ForeignKey]]
"""Keys of other tools, by object (`pool`, a path such as `cloud`, "" for the file) and name, in
lower case without `_` and `-`."""


@cache
def read_foreign_keys(folder: str) -> Mapping[tuple[str, str], ForeignKey]:
    """Return the table foreign_keys.csv beside the module with this `__file__`, and the names of
    tools for any cloud. A row has one or more objects, `top` for the file, and names; a key of its
    own stands behind a name: `minSize=minNodes`.
    """
    return {
        ("" if place == "top" else place, bare(name)): ForeignKey(
            key or row["key"], row["remedy"], row.get("beside") or "", row.get("then") or ""
        )
        for row in [*rows(__file__, "foreign_keys"), *rows(folder, "foreign_keys")]
        for place in row["object"].split()
        for name, _, key in (each.partition("=") for each in row["names"].split())
    }


PRICES = Path(__file__).parent / "prices.csv"

_ZONE = re.compile(r"([a-z]+-[a-z]+\d+)-[a-z]")


def price(provider: str, location: str, machine: str, capacity: Capacity) -> float | None:
    """Return US dollars an hour of a machine in a region or a zone; None if unknown."""
    # Google sells the GPUs of N1 machines apart (docs.cloud.google.com/compute/docs/gpus).
    if machine.startswith("n1-"):
        return None
    zone = _ZONE.fullmatch(location) if provider == "gcp" else None
    # Azure's regions are also written with capitals and spaces
    # (learn.microsoft.com/azure/reliability/regions-list).
    region = zone[1] if zone else location.replace(" ", "").lower()
    on_demand, spot = _prices().get((provider, region, machine.lower()), (None, None))
    return {Capacity.SPOT: spot, Capacity.ON_DEMAND: on_demand}.get(capacity)


@cache
def _prices() -> dict[tuple[str, str, str], tuple[float | None, float | None]]:
    with PRICES.open(newline="", encoding="utf-8") as file:
        return {
            (row["provider"], row["region"], row["machine"].lower()): (
                _number(row["on_demand"]),
                _number(row["spot"]),
            )
            for row in csv.DictReader(file)
        }


def _number(cell: str) -> float | None:
    return float(cell) if cell else None
