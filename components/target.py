"""Target: the new or existing cluster of a stack's pools and layer.

Each cloud has a class, listed in `components.clouds`. A target reads the cluster and refuses
changes that it cannot take, before anything is declared.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import pulumi

from components.last_update import LastUpdate, Place
from config.model.pool import Pool
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool

Outputs = dict[str, pulumi.Input[Any]]


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

    def path(self, pool: NodePool) -> str:
        """Return the path in the stack file, such as `pools[1]`, of a pool or of its on-demand
        twin's pool.
        """
        if not isinstance(pool.source, Pool):
            return "systemPool"
        return f"pools[{self.spec.pools.index(pool.source)}]"


class Cluster(Protocol):
    """The result of a target's `declare`."""

    @property
    def outputs(self) -> Outputs:
        """The cluster's names and the command to reach it, keyed by the names of the stack's
        outputs.
        """

    @property
    def kubeconfig(self) -> pulumi.Output[str]:
        """Secret."""

    @property
    def new_cluster(self) -> pulumi.Resource | None:
        """The resource of a cluster that this stack makes; None for an existing cluster."""

    @property
    def workloads(self) -> Mapping[str, Any] | None:
        """Storage for users' work, as `components.workloads` publishes it; None without."""


class CloudCluster(pulumi.ComponentResource):
    """A `Cluster` that declares resources of a cloud; the base of each cloud's components."""

    outputs: Outputs
    kubeconfig: pulumi.Output[str]
    """Secret. The kubeconfig that the cloud hands out to users."""
    new_cluster: pulumi.Resource | None = None
    workloads: Mapping[str, Any] | None = None


class Target(Protocol):
    """A cluster, with the facts that the layer and the outputs need before it is declared."""

    key: str
    """The key of the stack file by which errors name the cluster. It, `place` and `existing` are
    known before `read_cluster`."""
    not_by_priority: str | None
    """Why the autoscaler ignores the priority expander's ConfigMap, with the remedy; None if it
    reads it."""
    place: Place = MappingProxyType({})
    """The place of a new cluster; empty for an existing cluster."""
    existing: str = ""
    """The existing cluster that the stack adds pools to, in words; empty for another."""
    kubeconfig: str | None = None
    """Kubeconfig of an existing cluster; None for a new one. Secret: wrap it before it is passed
    on."""
    on_demand_pools: tuple[str, ...] = ()
    """Names of all on-demand pools of an existing cluster that its autoscaler may grow, this
    stack's among them."""
    pool_names: Collection[str] = ()
    """Names of all pools of the cluster now."""
    device_plugin: tuple[str, str] = ("", "the cloud's own device plugin")
    """Namespace and name of the device plugin on GPU nodes, where the cloud brings one."""
    exporter: str | None = None
    """The exporter of GPU metrics that the cloud runs in a new cluster, in words; None without
    one."""
    remembered: Mapping[str, Any] = MappingProxyType({})
    """Values of the cloud's own that the next update reads (`components.last_update`)."""

    @abstractmethod
    def read_cluster(self) -> None:
        """Read the cluster. Raise `pulumi.RunError` if it cannot be read, or for changes that it
        cannot take.
        """

    @abstractmethod
    def declare(self, name: str, opts: pulumi.ResourceOptions) -> Cluster:
        """Declare the stack's resources in the cloud. `name` begins their names; `opts`: of each of
        them.
        """

    @abstractmethod
    def node_labels(self, pool: NodePool) -> Mapping[str, str]:
        """Return those labels of the cloud on a pool's nodes that are known."""
