"""VM sizes: the catalogue's rows and what follows from a size's name.

The rows are read as data from `config/clouds/azure/machines.csv`; its first line names the columns.
"""

import re
from dataclasses import dataclass
from functools import cache

from sandbox.cloud.facts import catalogue, tables

# Standard_D4ds_v5: family letters, vCPUs, optional constrained vCPUs, feature letters.
# https://learn.microsoft.com/azure/virtual-machines/vm-naming-conventions
_NAME = re.compile(
    r"^Standard_(?P<family>[A-Z]+)\d+(?:-\d+)?(?P<features>[a-z]*)(?:_[A-Za-z0-9]+)*?(?:_v(?P<version>\d+))?$"
)

MIG_INSTANCES: dict[str, int] = tables("azure")["machines"]["mig_instances"]
"""The instances that a MIG profile makes of one GPU."""


@dataclass(frozen=True)
class Machine:
    """One VM size. Memory is nominal GiB; `gpus` is the physical share (1/6 is 0.1667)."""

    size: str
    family: str
    vcpus: int
    memory_gib: float
    gpu_model: str
    gpus: float
    local_disk: bool
    spot: str
    status: str
    replacement: str
    system_pools: bool

    @property
    def architecture(self) -> str:
        """`arm64` for sizes with the feature letter p and for Grace CPUs (GB200, GB300)."""
        match = _NAME.match(self.size)
        arm = (match and "p" in match["features"]) or self.gpu_model in ("nvidia-gb200", "nvidia-gb300")
        return "arm64" if arm else "amd64"

    @property
    def nvidia_gpus(self) -> int:
        """Number of NVIDIA GPUs that the machine shows; a fraction of one counts as one."""
        return max(1, int(self.gpus)) if self.gpu_model.startswith("nvidia-") and self.gpus else 0

    @property
    def gpu_memory_gb(self) -> int:
        """Memory of one GPU that can be partitioned; 0 for others."""
        return int(tables("azure")["machines"]["gpu_memory"].get(self.gpu_model, 0))

    @property
    def mig(self) -> bool:
        """True where the GPUs can be partitioned."""
        return self.gpu_model.startswith(tuple(tables("azure")["machines"]["mig_gpus"]))

    @property
    def premium_disks(self) -> bool:
        match = _NAME.match(self.size)
        return bool(match and "s" in match["features"])

    @property
    def temp_disk_gb(self) -> float | None:
        """GB of temporary disk, None where no source gives it.

        Standard_D4ds_v4 has 150 (azure-cli recording of 2025-07-01), and in Ddsv4, Ddsv5, Edsv4 and Edsv5 it grows with
        the vCPUs [inferred]. The catalogue says only whether a size has a local disk.
        """
        if not self.local_disk:
            return 0
        match = _NAME.match(self.size)
        if match and match["family"] in ("D", "E") and "d" in match["features"] and match["version"] in ("4", "5"):
            return 37.5 * self.vcpus
        return None


@cache
def machines() -> dict[str, Machine]:
    """Every size in the catalogue by name. Raises FileNotFoundError when the checkout has no catalogue."""
    return {
        row["size"]: Machine(
            size=row["size"],
            family=row["family"],
            vcpus=int(row["vcpus"]),
            memory_gib=float(row["memory_gib"]),
            gpu_model=row["gpu_model"],
            gpus=float(row["gpus"]),
            local_disk=row["local_disk"] == "yes",
            spot=row["spot"],
            status=row["status"],
            replacement=row["replacement"],
            system_pools="no-aks-system-pool" not in row["source"],
        )
        for row in catalogue("azure", "machines")
    }
