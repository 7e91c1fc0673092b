"""Machine types: the catalogue's rows and what follows from a type's name.

The rows are read as data from `config/clouds/gcp/machines.csv`; its first line names the columns.
"""

from dataclasses import dataclass
from functools import cache

from sandbox.cloud.facts import catalogue, tables

_FACTS = tables("gcp")["machines"]


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
        """Number of GPUs that a node pool of this type must declare; a fraction of one counts as one.

        Source: Google's GKE autoscaler, machinetypes.
        """
        return max(1, int(self.gpus)) if self.gpu_model else 0

    @property
    def boot_disks(self) -> tuple[str, ...]:
        """Types of boot disk it can have, the default first."""
        series = "-".join(self.name.split("-")[:2])
        disks = _FACTS["disks"]
        return tuple(disks.get(series) or disks.get(self.family) or disks["others"])

    @property
    def architecture(self) -> str:
        return "arm64" if self.family in _FACTS["arm"] else "amd64"

    @property
    def on_demand(self) -> bool:
        return self.name not in _FACTS["no_on_demand"]

    @property
    def flex_start(self) -> bool:
        return self.name not in _FACTS["no_flex_start"]

    @property
    def since(self) -> str:
        """The first version of GKE whose nodes it can be; empty where every one does that is served."""
        return str(_FACTS["since"].get(self.name, ""))


@cache
def machines() -> dict[str, Machine]:
    """Every type in the catalogue by name, and E2's with shared cores. Raises FileNotFoundError without a catalogue."""
    listed = {row["machine_type"]: _machine(row) for row in catalogue("gcp", "machines")}
    small = {
        name: Machine(name, "e2", 2, memory, "", 0, {}, spot=True) for name, memory in _FACTS["shared_core"].items()
    }
    return listed | small


def _machine(row: dict[str, str]) -> Machine:
    attachable = (entry.split(":") for entry in row["attachable"].split())
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
