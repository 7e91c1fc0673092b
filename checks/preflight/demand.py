"""Demand: what a stack file asks of a cloud, free of any client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from config.clouds import registry
from config.clouds.tables import Machine
from config.clouds.traits import Cloud
from config.model.pool import Capacity
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool, node_pools, system_pool


@dataclass(frozen=True)
class Need:
    """One node pool: a machine, and how many of them."""

    pool: str
    machine: str
    spot: bool
    least: int
    """Nodes that the first `up` asks for; 0 for a pool that starts at none."""
    most: int
    zones: tuple[str, ...]
    """Zones that the file names; empty where the cloud chooses."""
    gpus: int
    gpu_model: str
    known: Machine | None
    """The machine of the catalogue; None for one that it lacks."""
    queued: bool = False
    """Whether it is bought as flex-start."""
    reservation: str = ""
    """The reservation whose machines it takes, as the stack file names it; the quota was counted
    when they were reserved."""

    @property
    def reserved(self) -> bool:
        """Whether it takes machines that were reserved."""
        return bool(self.reservation)

    @property
    def first(self) -> int:
        """Nodes that the first `up` asks for, and 1 for a pool that starts at none: the first pod
        needs one."""
        return max(1, self.least)


@dataclass(frozen=True)
class Demand:
    """A stack's whole demand."""

    spec: ClusterSpec
    cloud: Cloud
    needs: tuple[Need, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    """The stack file's settings of other programs, such as the provider's, by their whole key."""

    @property
    def bucket(self) -> str:
        """The name of the bucket or storage account that the stack makes; empty where it makes
        none."""
        checkpoints = self.spec.workloads.checkpoints
        return (checkpoints.name if checkpoints else "") or ""

    @property
    def existing_bucket(self) -> str:
        """The bucket's name, or the storage account's id, of one that exists already; empty where
        the file names none."""
        checkpoints = self.spec.workloads.checkpoints
        return (checkpoints.existing if checkpoints else "") or ""

    @property
    def new(self) -> bool:
        """Whether the stack makes a cluster."""
        return self.spec.system_pool is not None


def demand(spec: ClusterSpec, settings: Mapping[str, str] | None = None) -> Demand:
    """Return a checked stack file's demand."""
    cloud = registry.cloud_of(spec.cloud)
    return Demand(
        spec,
        cloud,
        tuple(_need(pool, spec, cloud) for pool in all_pools(spec, cloud)),
        settings or {},
    )


def all_pools(spec: ClusterSpec, cloud: Cloud) -> tuple[NodePool, ...]:
    """Return the stack's pools; the system pool of a new cluster comes first."""
    pools = node_pools(spec, cloud)
    return (system_pool(spec.system_pool, cloud), *pools) if spec.system_pool else pools


def _first(pool: NodePool, spec: ClusterSpec, cloud: Cloud) -> int:
    """Return the nodes that the first `up` asks for, rounded up to equal numbers if bounds are per
    zone."""
    zones = pool.source.zone_count(spec.cloud) if cloud.max_nodes_are_of_a_zone else 1
    return -(-pool.min_nodes // zones) * zones


def _need(pool: NodePool, spec: ClusterSpec, cloud: Cloud) -> Need:
    return Need(
        pool.name,
        pool.machine,
        pool.capacity == Capacity.SPOT,
        _first(pool, spec, cloud),
        pool.max_nodes,
        pool.zones,
        pool.gpus,
        pool.gpu_model,
        cloud.machine(pool.machine),
        pool.capacity == Capacity.FLEX_START,
        pool.reservation or "",
    )
