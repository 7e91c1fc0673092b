"""Target: the new or existing cluster of a stack's pools and layer.

Each cloud has a class, listed in `components.clouds`. A target reads the cluster and refuses
changes that it cannot take, before anything is declared.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

import pulumi

from components.last_update import LastUpdate, Place
from config.model.pool import Pool
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool

Outputs = dict[str, pulumi.Input[Any]]


@dataclass(frozen=True)
class PoolObject:
    """An object inside a new cluster that stands for a pool, or for its machines."""

    pool: str
    """The pool's name, which the object has too."""
    api_version: str
    kind: str
    spec: Mapping[str, pulumi.Input[Any]]
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Stack:
    """What a cloud needs of one stack."""

    spec: ClusterSpec
    node_pools: tuple[NodePool, ...]
    """All but the system pool."""
    system_pool: NodePool | None
    """The system pool of a new cluster; None for an existing one."""
    instance: str
    """The stack's name in labels and names of objects (`components.layer.names`)."""
    last_update: LastUpdate

    @property
    def pools(self) -> tuple[NodePool, ...]:
        """All pools, the system pool of a new cluster among them."""
        return (*((self.system_pool,) if self.system_pool else ()), *self.node_pools)

    def path(self, pool: NodePool) -> str:
        """Return a pool's path in the file, such as `pools[1]`; of a twin, its spot pool's."""
        if not isinstance(pool.source, Pool):
            return "systemPool"
        return f"pools[{self.spec.pools.index(pool.source)}]"


class Cluster(Protocol):
    """The result of a target's `declare`."""

    @property
    def outputs(self) -> Outputs:
        """The cluster's names and the command to reach it, by the stack's output names."""

    @property
    def kubeconfig(self) -> pulumi.Output[str]:
        """Secret."""

    @property
    def new_cluster(self) -> pulumi.Resource | None:
        """The resource of a cluster that this stack makes; None for an existing cluster."""

    @property
    def pool_objects(self) -> Sequence[PoolObject]:
        """The pools that are objects inside the cluster; empty where the cloud's API has them."""

    @property
    def workloads(self) -> Mapping[str, Any] | None:
        """Storage for users' work, as `components.workloads` publishes it; None without."""


class CloudCluster(pulumi.ComponentResource):
    """A `Cluster` that declares resources of a cloud; the base of each cloud's components."""

    outputs: Outputs
    kubeconfig: pulumi.Output[str]
    """Secret. The kubeconfig that the cloud hands out to users."""
    new_cluster: pulumi.Resource | None = None
    pool_objects: Sequence[PoolObject] = ()
    workloads: Mapping[str, Any] | None = None


class Target(Protocol):
    """A cluster, with the facts that the layer and the outputs need before it is declared."""

    key: str
    """The key of the stack file by which errors name the cluster. It, `place` and `existing` are
    known before `read_cluster`."""
    not_by_priority: str | None
    """Why the autoscaler ignores the priority expander's ConfigMap; None if it reads it."""
    order_kept_by: str | None = None
    """What keeps the order of growth in place of an expander, in words, or None."""
    place: Place = MappingProxyType({})
    """The place of a new cluster; empty for an existing cluster."""
    existing: str = ""
    """The existing cluster that the stack adds pools to, in words; empty for another."""
    kubeconfig: str | None = None
    """Secret kubeconfig of an existing cluster, to be wrapped; None for a new one."""
    on_demand_pools: tuple[str, ...] = ()
    """Names of all on-demand pools that an existing cluster's autoscaler may grow."""
    pool_names: Collection[str] = ()
    """Names of all pools of the cluster now."""
    device_plugin: tuple[str, str] = ("", "the cloud's own device plugin")
    """Namespace and name of the device plugin on GPU nodes, where the cloud brings one."""
    exporter: str | None = None
    """The cloud's own exporter of GPU metrics in a new cluster, in words, or None."""
    remembered: Mapping[str, Any] = MappingProxyType({})
    """Values of the cloud's own that the next update reads (`components.last_update`)."""

    @abstractmethod
    def read_cluster(self) -> None:
        """Read the cluster. Raise `pulumi.RunError` for a refused read or change."""

    @abstractmethod
    def declare(self, name: str, opts: pulumi.ResourceOptions) -> Cluster:
        """Declare the stack's resources in the cloud, whose names begin with `name`."""

    @abstractmethod
    def node_labels(self, pool: NodePool) -> Mapping[str, str]:
        """Return those labels of the cloud on a pool's nodes that are known."""
