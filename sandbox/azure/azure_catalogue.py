"""Machine sizes, regions and Kubernetes versions of Azure."""

import re
from dataclasses import dataclass
from functools import cache

from sandbox.azure.azure_errors import AzureRefused, arm
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
    """Return every size in the catalogue by name. Raises FileNotFoundError when the checkout has no catalogue."""
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


def plain_region(location: str) -> str:
    """Return a region's programmatic name: `westeurope` for `West Europe`."""
    return location.replace(" ", "").lower()


def region_refusal(location: str, arm_type: str) -> AzureRefused | None:
    """Return ARM's refusal of a region that Azure does not have; None for others.

    `arm_type` is one such as `Microsoft.Network/virtualNetworks`, empty for a resource group.
    Azure/azure-cli #16368 (a resource group), Azure/AKS #5099 (a cluster). The real list is of the regions that have the type.
    """
    names = tables("azure")["regions"]["names"]
    if plain_region(location) in names:
        return None
    what = f"resource type '{arm_type}'" if arm_type else "resource group"
    of = " for the resource type" if arm_type else ""
    text = (
        f"The provided location '{location}' is not available for {what}. List of available regions{of} is "
        f"'{','.join(names)}'."
    )
    return arm(f"LocationNotAvailableForResource{'Type' if arm_type else 'Group'}", text)


def zones_of_region(location: str) -> tuple[str, ...]:
    """Return the availability zones of a region, by its programmatic name; one that is not known has three."""
    return () if location in tables("azure")["regions"]["without_zones"] else ("1", "2", "3")


PATCHES: dict[str, str] = tables("azure")["versions"]["patches"]

LONG_TERM: dict[str, str] = tables("azure")["versions"]["long_term"]
"""Further ones, for clusters with the support plan AKSLongTermSupport."""

# AKS creates a cluster of the release before the newest when none is named [inferred].
DEFAULT_VERSION = "1.35"


def minor(version: str) -> int:
    """Return the minor version: 35 for `1.35` and `1.35.5`."""
    return int(version.split(".")[1])


def alias(version: str) -> str:
    return ".".join(version.split(".")[:2])


def patch(version: str) -> str | None:
    """Return the patch a version stands for; None when the region does not offer it."""
    every = LONG_TERM | PATCHES
    return version if version in every.values() else every.get(version)


def long_term_only(version: str) -> bool:
    """Return whether the region offers a version with long-term support alone."""
    return alias(version) in LONG_TERM and patch(version) is not None
