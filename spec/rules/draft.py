"""What could be read of a stack file."""

from __future__ import annotations

from dataclasses import dataclass, field

from spec import placement
from spec.azure import Azure
from spec.clouds import Cloud
from spec.existing import Existing
from spec.model import (
    Cluster,
    DevicePluginOptions,
    ExpanderOptions,
    ImagePullSecret,
    Pool,
    Release,
    SystemPool,
)


@dataclass(frozen=True)
class Draft:
    """The parts that could be read; a rule that needs another one stays silent."""

    release: Release | None
    cluster: Cluster | None
    cloud: Azure | Existing | None
    system_pool: SystemPool | None
    pools: dict[int, Pool]
    """By their index in the file."""
    unreadable: frozenset[str | None] = field(default=frozenset())
    """Names of pools that could not be read, None for one without a name."""
    image_pull_secrets: dict[int, ImagePullSecret] = field(default_factory=dict)
    """By their index in the file."""
    made_here: bool = True
    """Whether this stack makes the cluster, as far as can be told."""
    device_plugin: DevicePluginOptions | None = None
    expander: ExpanderOptions | None = None

    @property
    def azure(self) -> Azure | None:
        """The cloud's settings when it is Azure."""
        return self.cloud if isinstance(self.cloud, Azure) else None


def has_gpus(pool: Pool, cloud: Cloud) -> bool:
    """Whether the pool's machines have GPUs."""
    return placement.is_gpu(pool, cloud.machine(pool.machine))
