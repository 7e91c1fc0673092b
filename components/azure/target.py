"""An AKS cluster as the target of a stack: a new one, or an existing one that was read."""

from __future__ import annotations

import pulumi

from components.azure import immutable_cluster, pools
from components.azure.cluster import AksCluster, place, plan
from components.azure.existing_cluster import AksPools, read, refuse
from components.resources import reading
from components.target import ExistingCluster, NewCluster, Stack, Target
from config.clouds.azure.settings import Azure


def target(stack: Stack, opts: pulumi.ResourceOptions | None) -> Target:
    """The cluster of this stack file, read by the provider that `opts` of the component name.

    Raises `pulumi.RunError` for an existing one that is missing or cannot take the pools.
    """
    cloud = stack.spec.cloud
    assert isinstance(cloud, Azure)
    if cloud.existing_cluster:
        return _existing(stack, cloud, opts)
    tenant, wanted = cloud.access.tenant_id, plan(stack, reading(opts, "azure-native"))
    return NewCluster(
        declare=lambda name, child: AksCluster(name, wanted, opts=child),
        node_labels=pools.node_labels,
        not_by_priority=_unless_priority(cloud.autoscaler.expander, "cloud.autoscaler.expander: priority makes it so"),
        place=place(stack.spec, cloud),
        remembered={immutable_cluster.LISTED: True, **({immutable_cluster.TENANT: tenant} if tenant else {})},
    )


def _existing(stack: Stack, cloud: Azure, opts: pulumi.ResourceOptions | None) -> Target:
    assert cloud.existing_cluster
    cluster = read(cloud.existing_cluster, reading(opts, "azure-native"))
    refuse(stack, cluster)
    return ExistingCluster(
        declare=lambda name, child: AksPools(name, stack, cluster, opts=child),
        node_labels=pools.node_labels,
        not_by_priority=_unless_priority(
            cluster.expander,
            f"az aks update --resource-group {cluster.resource_group} --name {cluster.name}"
            " --cluster-autoscaler-profile expander=priority   makes it so",
        ),
        kubeconfig=cluster.kubeconfig,
        on_demand_pools=cluster.on_demand_pools,
    )


def _unless_priority(expander: str, remedy: str) -> str | None:
    return None if expander == "priority" else f"the cluster's expander is {expander}; {remedy}"
