"""What could be read of a stack file."""

from __future__ import annotations

from dataclasses import dataclass, field

from spec import placement
from spec.clouds import Cloud
from spec.model import Azure, Cluster, Pool, Release, SystemPool


@dataclass(frozen=True)
class Draft:
    """The parts that could be read; a rule that needs another one stays silent."""

    release: Release | None
    cluster: Cluster | None
    cloud: Azure | None
    system_pool: SystemPool | None
    pools: dict[int, Pool]
    """By their index in the file."""
    unreadable: frozenset[str | None] = field(default=frozenset())
    """Names of pools that could not be read, None for one without a name."""


def has_gpus(pool: Pool, cloud: Cloud) -> bool:
    """Whether the pool's machines have GPUs."""
    return placement.is_gpu(pool, cloud.machine(pool.machine))
