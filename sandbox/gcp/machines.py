"""Machine types: the catalogue's rows and what follows from a type's name.

The rows are read as data from `config/clouds/gcp/machines.csv`; its first line names the columns.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_CATALOG = Path(__file__).resolve().parents[2] / "config" / "clouds" / "gcp" / "machines.csv"

# Google's GKE autoscaler source (k8s.io/gke-autoscaling): what a family's machines boot from, the default first. Of
# the families without GPUs no source read says more than that pd-balanced is GKE's default.
_DISKS = {
    "a3-ultragpu": ("hyperdisk-balanced",),
    "a4": ("hyperdisk-balanced",),
    "a4x": ("hyperdisk-balanced",),
    "g4": ("hyperdisk-balanced",),
    "a3": ("pd-balanced", "pd-ssd", "hyperdisk-balanced"),
    "g2": ("pd-balanced", "pd-ssd"),
    "a2": ("pd-standard", "pd-balanced", "pd-ssd"),
    "n1": ("pd-standard", "pd-balanced", "pd-ssd"),
    # kubernetes-sigs/gcp-compute-persistent-disk-csi-driver #1391: no pd-standard
    "c3": ("pd-balanced", "pd-ssd", "hyperdisk-balanced"),
}
_OTHER_DISKS = ("pd-balanced", "pd-standard", "pd-ssd")

# docs.cloud.google.com general-purpose-machines, E2 shared-core: no row of the catalogue, and GKE's default for a pool.
_SHARED_CORE = {"e2-small": 2.0, "e2-medium": 4.0}

# docs.cloud.google.com accelerator-optimized-machines, consumption options: none has plain on-demand capacity.
_NO_ON_DEMAND = (
    *("a3-highgpu-1g", "a3-highgpu-2g", "a3-highgpu-4g", "a3-ultragpu-8g", "a4-highgpu-8g"),
    *("a4x-highgpu-4g", "a4x-maxgpu-4g-metal"),
)

# Page gpus, availability of GPUs by version: the types that some served version is too old for.
_SINCE = {
    "a4-highgpu-8g": "1.32.1-gke.1729000",
    "a4x-highgpu-4g": "1.32.8-gke.1108000",
    "a4x-maxgpu-4g-metal": "1.34.3-gke.1318000",
    **dict.fromkeys(("g4-standard-6", "g4-standard-12", "g4-standard-24"), "1.35.2-gke.1485000"),
    **dict.fromkeys(("g4-standard-48", "g4-standard-96", "g4-standard-192", "g4-standard-384"), "1.32.11-gke.1174000"),
}


@dataclass(frozen=True)
class Machine:
    """One machine type. Memory is GiB; `gpus` is the physical share (an eighth is 0.125) of a built-in GPU."""

    name: str
    family: str
    vcpus: int
    memory_gib: float
    gpu_model: str
    gpus: float
    attachable: dict[str, tuple[int, ...]]
    """The GPUs that can be attached, with the counts that this size takes."""
    spot: bool

    @property
    def accelerators(self) -> int:
        """How many GPUs a node pool of it must declare; a fraction of one is one (Google's GKE autoscaler source, machinetypes)."""
        return max(1, int(self.gpus)) if self.gpu_model else 0

    @property
    def boot_disks(self) -> tuple[str, ...]:
        """Types of boot disk it can have, the default first."""
        series = "-".join(self.name.split("-")[:2])
        return _DISKS.get(series) or _DISKS.get(self.family) or _OTHER_DISKS

    @property
    def on_demand(self) -> bool:
        return self.name not in _NO_ON_DEMAND

    @property
    def since(self) -> str:
        """The first version of GKE whose nodes it can be; empty where every one does that is served."""
        return _SINCE.get(self.name, "")


@cache
def machines(catalog: Path = _CATALOG) -> dict[str, Machine]:
    """Every type in the catalogue by name, and E2's with shared cores.

    Raises FileNotFoundError when the checkout has no catalogue.
    """
    with catalog.open(encoding="utf-8", newline="") as file:
        found = {row["machine_type"]: _machine(row) for row in csv.DictReader(file)}
    small = {name: Machine(name, "e2", 2, memory, "", 0, {}, spot=True) for name, memory in _SHARED_CORE.items()}
    return found | small


def _machine(row: dict[str, str]) -> Machine:
    attachable = (one.split(":") for one in row["attachable"].split())
    return Machine(
        name=row["machine_type"],
        family=row["family"],
        vcpus=int(row["vcpus"]),
        memory_gib=float(row["memory_gib"]),
        gpu_model=row["gpu_model"],
        gpus=float(row["gpus_fixed"] or 0),
        attachable={model: tuple(int(n) for n in counts.split("|")) for model, counts in attachable},
        spot=row["spot"] != "no",
    )
