"""Machine types, GKE versions, regions and zones of Google Cloud, and which zones have which GPU."""

import re
from dataclasses import dataclass
from functools import cache

from sandbox.cloud.facts import catalogue, tables
from sandbox.gcp import gcp_ids

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
    """Return every type in the catalogue by name, and E2's with shared cores. Raises FileNotFoundError without a catalogue."""
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


def local_ssds(machine: str) -> tuple[int, ...] | None:
    """Return the numbers of local SSDs that a type can have; empty for none, None if the catalogue does not name it."""
    rows = (row for row in catalogue("gcp", "local-ssds") if re.fullmatch(row["machine"], machine))
    row = next(rows, None)
    return tuple(int(count) for count in row["counts"].split("|") if count) if row else None


_VERSIONS = tables("gcp")["versions"]

DEFAULT_CHANNEL = "REGULAR"


def minors(channel: str) -> tuple[str, ...]:
    """Return a channel's minor versions; without one those of Regular (page release-channels: "No channel" is deprecated)."""
    return tuple(_VERSIONS["minors"].get(channel, _VERSIONS["minors"][DEFAULT_CHANNEL]))


def served(channel: str) -> list[str]:
    """Return every version a channel has, oldest first."""
    versions = [version for version in _VERSIONS["served"] if minor(version) in minors(channel)]
    return sorted(versions, key=number)


def default(channel: str) -> str:
    return str(_VERSIONS["defaults"].get(channel, _VERSIONS["defaults"][DEFAULT_CHANNEL]))


def resolved(requested: str, channel: str) -> str | None:
    """Return the version that `1.36`, `1.36.4`, `latest` or a whole version stands for; None when the channel has none.

    Page versioning, "Specifying cluster version": a part of a version means the newest that begins with it; `-` the default.
    """
    if requested in ("", "-"):
        return default(channel)
    versions = served(channel)
    if requested == "latest":
        return versions[-1]
    matches = [v for v in versions if v == requested or v.startswith((f"{requested}.", f"{requested}-"))]
    return matches[-1] if matches else None


def minor(version: str) -> str:
    """Return the minor version: `1.36` for `1.36.4-gke.1132000`."""
    return ".".join(version.split(".")[:2])


def number(version: str) -> tuple[int, ...]:
    """Return numbers to compare by: 1.36 is 1.36.0, without a build."""
    patch, _, build = version.partition("-gke.")
    parts = [int(part) for part in patch.split(".") if part.isdigit()]
    return (*parts, *(0,) * (3 - len(parts)), int(build or 0))


# Regions, their zones, and which zones have which GPU.
#
# Both are read as data from `config/clouds`, whose README has their sources. GPUs with `*` are taken as offered everywhere.

# https://cloud.google.com/kubernetes-engine/docs/concepts/regional-clusters: three zones of the region by default.
_ZONES_OF_A_CLUSTER = 3


@cache
def _regions() -> dict[str, tuple[str, ...]]:
    return {
        row["region"]: tuple(f"{row['region']}-{letter}" for letter in row["zones"].split())
        for row in catalogue("gcp", "zones")
    }


@cache
def gpu_offers() -> dict[str, frozenset[str]]:
    """Return the zones of each GPU; `*` for all."""
    return {row["accelerator"]: frozenset(row["zones"].split()) for row in catalogue("gcp", "gpu-zones")}


def zones_of_region(region: str) -> tuple[str, ...]:
    """Return the zones of a region; none for an unknown region."""
    return _regions().get(region, ())


def location_exists(location: str) -> bool:
    """Return whether a region or zone is one of Google's."""
    return location in _regions() or location in zones_of_region(gcp_ids.region(location))


def default_zones(location: str) -> list[str]:
    """Return the zones of the nodes of a cluster that names none."""
    return [location] if gcp_ids.is_zone(location) else list(zones_of_region(location)[:_ZONES_OF_A_CLUSTER])


def gpu_offered(accelerator: str, zone: str) -> bool:
    known = gpu_offers().get(accelerator, frozenset())
    return zone in known or "*" in known
