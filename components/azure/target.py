"""An AKS cluster as the site of a stack: made here, or found."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import pulumi

from components.azure import immutable_cluster
from components.azure.cluster import AksCluster, place
from components.azure.existing_cluster import AksPools, FoundCluster, find, node_labels, refuse
from components.resources import reading
from components.target import Site
from config.clouds.azure.settings import Azure
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool


def site(
    spec: ClusterSpec,
    node_pools: Sequence[NodePool],
    instance: str,
    was: Mapping[str, Any],
    opts: pulumi.ResourceOptions | None = None,
) -> Site:
    """The cluster of this stack file, read by the provider that `opts` of the component name.

    `was`: what the stack remembers (`components.last_update`).

    Raises `pulumi.RunError` for one that is not there or cannot take the pools.
    """
    assert isinstance(spec.cloud, Azure)
    if not spec.cloud.existing_cluster:
        return New(spec, node_pools, was)
    found = find(spec.cloud.existing_cluster, reading(opts, "azure-native"))
    refuse(spec, node_pools, found, instance, was)
    return There(spec, node_pools, instance, found)


@dataclass(frozen=True)
class New:
    """A cluster that this stack makes."""

    spec: ClusterSpec
    node_pools: Sequence[NodePool]
    was: Mapping[str, Any]
    kubeconfig = None
    key = "cloud"

    @property
    def place(self) -> Mapping[str, str]:
        """See `Site`."""
        assert isinstance(self.spec.cloud, Azure)
        return place(self.spec, self.spec.cloud)

    @property
    def remembered(self) -> Mapping[str, Any]:
        """See `Site`."""
        assert isinstance(self.spec.cloud, Azure)
        tenant = self.spec.cloud.access.tenant_id
        return {immutable_cluster.LISTED: True, **({immutable_cluster.TENANT: tenant} if tenant else {})}

    @property
    def not_by_priority(self) -> str | None:
        """See `Site`."""
        assert isinstance(self.spec.cloud, Azure)
        return _unless_priority(self.spec.cloud.autoscaler.expander, "cloud.autoscaler.expander: priority makes it so")

    def on_demand_beside(self, own: Collection[str]) -> tuple[str, ...]:
        """None: all pools are the stack's."""
        return ()

    def node_labels(self, pool: NodePool) -> Mapping[str, str]:
        """See `Site`."""
        return node_labels(pool)

    def declare(self, name: str, opts: pulumi.ResourceOptions) -> AksCluster:
        """See `Site`."""
        return AksCluster(name, self.spec, self.node_pools, self.was, opts=opts)


@dataclass(frozen=True)
class There:
    """A cluster that somebody else made."""

    spec: ClusterSpec
    node_pools: Sequence[NodePool]
    instance: str
    found: FoundCluster
    key = "cloud.existingCluster"
    place: ClassVar[Mapping[str, str]] = MappingProxyType({})
    remembered: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    @property
    def kubeconfig(self) -> str:
        """See `Site`."""
        return self.found.kubeconfig

    @property
    def not_by_priority(self) -> str | None:
        """See `Site`."""
        return _unless_priority(
            self.found.expander,
            f"az aks update --resource-group {self.found.resource_group} --name {self.found.name}"
            " --cluster-autoscaler-profile expander=priority   makes it so",
        )

    def on_demand_beside(self, own: Collection[str]) -> tuple[str, ...]:
        """See `Site`."""
        return self.found.on_demand_beside(own)

    def node_labels(self, pool: NodePool) -> Mapping[str, str]:
        """See `Site`."""
        return node_labels(pool)

    def declare(self, name: str, opts: pulumi.ResourceOptions) -> AksPools:
        """See `Site`."""
        return AksPools(name, self.spec, self.node_pools, self.found, instance=self.instance, opts=opts)


def _unless_priority(expander: str, remedy: str) -> str | None:
    return None if expander == "priority" else f"the cluster's expander is {expander}; {remedy}"
