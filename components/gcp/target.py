"""A GKE cluster as the site of a stack: made here, or found."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import pulumi

from components import last_update
from components.gcp import identity, immutable_cluster, immutable_pools, live, network, pools
from components.gcp.cluster import GkeCluster
from components.gcp.existing_cluster import FoundCluster, GkePools, find, node_labels, refuse
from components.gcp.live import LiveCluster
from components.resources import reading
from components.target import Site
from config.clouds.gcp.settings import Gcp
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool

_BY_PRICE = "GKE takes what is cheapest among pools that fit, and has no priority expander"
"""Page cluster-autoscaler."""


def site(
    spec: ClusterSpec,
    node_pools: Sequence[NodePool],
    instance: str,
    was: Mapping[str, Any],
    opts: pulumi.ResourceOptions | None = None,
) -> Site:
    """The cluster of this stack file, read by the provider that `opts` of the component name.

    `was`: what the stack remembers (`components.last_update`). Raises `pulumi.RunError` for one that is not there, cannot be
    read or cannot take the pools.
    """
    asked = reading(opts, "gcp")
    cloud = spec.cloud
    assert isinstance(cloud, Gcp)
    if cloud.existing_cluster:
        found = find(cloud.project, cloud.existing_cluster, asked)
        refuse(spec, node_pools, found, instance)
        return There(spec, node_pools, instance, found)
    assert cloud.location
    network.refuse(cloud, asked)
    there = live.read(cloud.project, cloud.location, spec.name, asked)
    made = New(spec, node_pools, there)
    if not there.found:
        last_update.warn_of_missing(was, made.place, "gcloud config list   tells who reads")
    _refuse_changes(spec, cloud, node_pools, there, asked)
    return made


def _refuse_changes(
    spec: ClusterSpec,
    cloud: Gcp,
    node_pools: Sequence[NodePool],
    there: LiveCluster,
    asked: pulumi.InvokeOptions,
) -> None:
    assert spec.system_pool
    account, tags = identity.wanted(cloud, spec.name), spec.cluster.tags
    immutable_pools.refuse(
        [
            *immutable_cluster.problems(cloud, spec.name, there, asked),
            *immutable_pools.cluster_problems(spec.name, cloud, there),
            *immutable_pools.system_problems(pools.system_pool(spec.system_pool, cloud, account, tags, there), there),
            *(
                problem
                for pool in node_pools
                for problem in immutable_pools.pool_problems(
                    spec, pool, pools.node_pool(pool, cloud, account, tags, there), there
                )
            ),
        ]
    )


@dataclass(frozen=True)
class New:
    """A cluster that this stack makes."""

    spec: ClusterSpec
    node_pools: Sequence[NodePool]
    live: LiveCluster
    kubeconfig = None
    key = "cloud"
    remembered: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    @property
    def place(self) -> Mapping[str, str]:
        """See `Site`."""
        assert isinstance(self.spec.cloud, Gcp)
        assert self.spec.cloud.location
        return {
            "clusterName": self.spec.name,
            "project": self.spec.cloud.project,
            "location": self.spec.cloud.location,
        }

    not_by_priority = f"{_BY_PRICE}; cloud.fallback.mode: compute-class gives it an order"

    def on_demand_beside(self, own: Collection[str]) -> tuple[str, ...]:
        """None: all pools are the stack's."""
        return ()

    def node_labels(self, pool: NodePool) -> Mapping[str, str]:
        """See `Site`."""
        return node_labels(pool)

    def declare(self, name: str, opts: pulumi.ResourceOptions) -> GkeCluster:
        """See `Site`."""
        return GkeCluster(name, self.spec, self.node_pools, self.live, opts=opts)


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
    not_by_priority = f"{_BY_PRICE}; cloud.fallback.mode: compute-class gives pods that ask for it an order"

    @property
    def kubeconfig(self) -> str:
        """See `Site`."""
        return self.found.kubeconfig

    def on_demand_beside(self, own: Collection[str]) -> tuple[str, ...]:
        """None that matter: there is no order to keep among them."""
        return ()

    def node_labels(self, pool: NodePool) -> Mapping[str, str]:
        """See `Site`."""
        return node_labels(pool)

    def declare(self, name: str, opts: pulumi.ResourceOptions) -> GkePools:
        """See `Site`."""
        return GkePools(name, self.spec, self.node_pools, self.found, instance=self.instance, opts=opts)
