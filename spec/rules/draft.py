"""What could be read of a stack file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from spec import placement
from spec.azure import Azure
from spec.clouds import Cloud
from spec.existing import Existing
from spec.fields import Unreadable, readable
from spec.gcp import Gcp
from spec.gpu import DcgmExporter
from spec.model import (
    Cluster,
    DevicePluginOptions,
    ExpanderOptions,
    ImagePullSecret,
    Pool,
    Release,
    SystemPool,
)
from spec.scheduling import Scheduling


@dataclass(frozen=True)
class Draft:
    """The parts that could be read, each perhaps without some of its fields (`spec.objects`)."""

    release: Release | None
    cluster: Cluster | None
    cloud: Azure | Gcp | Existing | None
    system_pool: SystemPool | None
    pools: dict[int, Pool]
    """By their index in the file."""
    all_pools: bool = True
    """Whether `pools` holds every pool of the file."""
    image_pull_secrets: dict[int, ImagePullSecret] = field(default_factory=dict)
    """By their index in the file."""
    made_here: bool = True
    """Whether this stack makes the cluster, as far as can be told."""
    device_plugin: DevicePluginOptions | None = None
    dcgm_exporter: DcgmExporter | None = None
    expander: ExpanderOptions | None = None
    scheduling: Scheduling | None = None

    @property
    def azure(self) -> Azure | None:
        """The cloud's settings when it is Azure."""
        return self.cloud if isinstance(self.cloud, Azure) else None

    @property
    def gcp(self) -> Gcp | None:
        """The cloud's settings when it is Google's."""
        return self.cloud if isinstance(self.cloud, Gcp) else None

    @property
    def new_gke(self) -> Gcp | None:
        """The settings of a GKE cluster that this stack makes; None when it makes none."""
        return self.gcp if self.made_here else None

    @property
    def new(self) -> Azure | None:
        """The settings of an AKS cluster that this stack makes; None when it makes none."""
        return self.azure if self.made_here else None

    def written_pools(self) -> Iterator[tuple[str, Pool | SystemPool]]:
        """The system pool and all others, with their paths."""
        if self.system_pool and self.made_here:
            yield "systemPool", self.system_pool
        for index, pool in self.pools.items():
            yield f"pools[{index}]", pool

    def names_are_known(self) -> bool:
        """Whether every pool of the file has a name that could be read."""
        return self.all_pools and all(readable(pool, "name") for pool in self.pools.values())

    def spot_pools(self) -> list[Pool]:
        """The pools that surely are bought as spot."""
        return [p for p in self.pools.values() if readable(p, "capacity") and p.vanishes]


def most_nodes(pool: Pool | SystemPool, draft: Draft) -> int | None:
    """The most nodes of a pool, None where that cannot be told."""
    try:
        return pool.most_nodes(draft.cloud)
    except Unreadable:
        return None


def has_gpus(pool: Pool, cloud: Cloud) -> bool:
    """Whether the pool's machines have GPUs."""
    return placement.gpus(pool, cloud)[0] > 0
