"""An AKS cluster as the target of a stack: a new one, or an existing one that was read."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

from components.azure import cluster, existing_cluster, immutable_cluster, pools
from components.azure.cluster import AksCluster
from components.azure.existing_cluster import AksPools
from components.resources import reading
from components.target import CloudCluster, Stack, Target
from config.clouds.azure.settings import Azure
from config.placement.node_pools import NodePool


class AksTarget(Target):
    """The cluster of a stack file on AKS, read by the provider that `opts` of the component name: `AksTarget(stack, opts)`.

    Raises `pulumi.RunError` for changes that AKS refuses, and for an existing cluster that is missing or cannot take the pools.
    """

    def __init__(self, stack: Stack, opts: pulumi.ResourceOptions | None) -> None:
        cloud = stack.spec.cloud
        assert isinstance(cloud, Azure)
        self._stack, self._existing = stack, None
        if cloud.existing_cluster:
            self._existing = existing = existing_cluster.read(cloud.existing_cluster, reading(opts, "azure-native"))
            existing_cluster.refuse(stack, existing)
            self.key, self.kubeconfig = "cloud.existingCluster", existing.kubeconfig
            self.on_demand_pools = existing.on_demand_pools
            expander, remedy = (
                existing.expander,
                (
                    f"az aks update --resource-group {existing.resource_group} --name {existing.name}"
                    " --cluster-autoscaler-profile expander=priority   makes it so"
                ),
            )
        else:
            self._plan = cluster.plan(stack, reading(opts, "azure-native"))
            self.key, self.place = "cloud", cluster.place(stack.spec, cloud)
            tenant = cloud.access.tenant_id
            self.remembered = {immutable_cluster.LISTED: True, **({immutable_cluster.TENANT: tenant} if tenant else {})}
            expander, remedy = cloud.autoscaler.expander, "cloud.autoscaler.expander: priority makes it so"
        self.not_by_priority = None if expander == "priority" else f"the cluster's expander is {expander}; {remedy}"

    def declare(self, name: str, opts: pulumi.ResourceOptions) -> CloudCluster:
        """Declare the cluster, or the stack's pools in it."""
        if self._existing:
            return AksPools(name, self._stack, self._existing, opts=opts)
        return AksCluster(name, self._plan, opts=opts)

    def node_labels(self, pool: NodePool) -> Mapping[str, str]:
        """Return the known ones among AKS' labels."""
        return pools.node_labels(pool)
