"""An emulated cloud as those see it who look after its nodes: the autoscaler, the kubelets, and `sandbox status`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


class ScaleRefused(ValueError):
    """A pool cannot take the size asked for, or there is no such pool."""


@dataclass(frozen=True)
class PoolStatus:
    """One pool as a status display shows it; `least` and `most` are None without autoscaling."""

    id: str
    cluster: str
    pool: str
    count: int
    least: int | None
    most: int | None
    size: str
    priority: str


@dataclass(frozen=True)
class Gpus:
    """The NVIDIA GPUs of one machine, each cut into `instances` by a MIG profile as the cloud spells it (`MIG1g`, `1g.5gb`); ""
    and 1 without one."""

    count: int
    memory_gb: int = 0
    """Of one GPU; 0 where it cannot be partitioned."""
    profile: str = ""
    instances: int = 1
    driver: bool = True
    """Whether the cloud installs the driver."""
    clients: int = 1
    """How many pods share one GPU or instance where the cloud's own device plugin says so."""


@dataclass(frozen=True)
class NodeGroup:
    """One pool. `least` and `most` are None where it is not autoscaled."""

    name: str
    """The cloud's group of machines, such as a scale set, by which the autoscaler knows it."""
    pool: str
    pool_id: str
    least: int | None
    most: int | None
    nodes: tuple[str, ...]
    """The names of its machines' nodes, of those too that have not joined yet."""
    template: dict[str, Any]
    gpus: Gpus | None
    floors: tuple[tuple[frozenset[str], int], ...] = ()
    """Of these nodes at least so many stay, beside `least` of all: bounds of a zone."""


@dataclass(frozen=True)
class Fleet:
    """A cluster's groups and its autoscaler's profile."""

    groups: list[NodeGroup] = field(default_factory=list)
    profile: Mapping[str, Any] = field(default_factory=dict)


class ScalableCloud(Protocol):
    """What an autoscaler asks of a cloud. Ids are the cloud's own."""

    def fleet(self, cluster_id: str) -> Fleet:
        """The cluster's pools as they are now; empty when it is gone."""

    def grow(self, pool_id: str, by: int) -> None:
        """Add so many nodes to an autoscaled pool, whatever its size is by now. Raises ScaleRefused."""

    def remove(self, pool_id: str, nodes: Collection[str]) -> None:
        """Take these nodes, by name, out of an autoscaled pool. Raises ScaleRefused."""

    def apply_nodes(self, cluster_id: str) -> None:
        """Make a cluster's nodes those of its pools; nothing when it is gone."""
