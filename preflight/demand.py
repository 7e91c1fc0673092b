"""Demand: what a stack file asks of a cloud, free of any client."""

from __future__ import annotations

from dataclasses import dataclass

from config.clouds import registry
from config.clouds.machines import Machine
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
    first: int
    """Nodes that the first `up` asks for, and 1 for a pool that starts at none: the first pod needs one."""
    most: int
    zones: tuple[str, ...]
    """Zones that the file names; empty where the cloud chooses."""
    gpus: int
    gpu_model: str
    known: Machine | None
    """The machine of the catalogue; None for one that it lacks."""


@dataclass(frozen=True)
class Demand:
    """A stack's whole demand."""

    spec: ClusterSpec
    cloud: Cloud
    needs: tuple[Need, ...]

    @property
    def new(self) -> bool:
        """Whether the stack makes a cluster."""
        return self.spec.system_pool is not None


def demand(spec: ClusterSpec) -> Demand:
    """The demand of a checked stack file."""
    cloud = registry.of(spec.cloud)
    pools = node_pools(spec, cloud)
    if spec.system_pool:
        pools = (system_pool(spec.system_pool, cloud), *pools)
    return Demand(spec, cloud, tuple(_need(pool, spec, cloud) for pool in pools))


def _first(pool: NodePool, spec: ClusterSpec, cloud: Cloud) -> int:
    """Nodes that the first `up` asks for. Where bounds are of a zone, so is the first number of nodes, and it is rounded up."""
    zones = pool.source.zone_count(spec.cloud) if cloud.max_nodes_are_of_a_zone else 1
    return -(-pool.min_nodes // zones) * zones


def _need(pool: NodePool, spec: ClusterSpec, cloud: Cloud) -> Need:
    return Need(
        pool.name,
        pool.machine,
        pool.capacity == Capacity.SPOT,
        max(1, _first(pool, spec, cloud)),
        pool.max_nodes,
        pool.zones,
        pool.gpus,
        pool.gpu_model,
        cloud.machine(pool.machine),
    )
