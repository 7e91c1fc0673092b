"""A cluster in a network that the same program makes (docs/reference/library.md)."""

import pulumi
import pulumi_azure_native as azure
import pulumi_kubeflow_spot as kubeflow_spot

group = azure.resources.ResourceGroup("ml", resource_group_name="ml", location="westeurope")
network = azure.network.VirtualNetwork(
    "ml",
    resource_group_name=group.name,
    virtual_network_name="ml",
    location="westeurope",
    address_space=azure.network.AddressSpaceArgs(address_prefixes=["10.8.0.0/16"]),
)
nodes = azure.network.Subnet(
    "nodes",
    resource_group_name=group.name,
    virtual_network_name=network.name,
    subnet_name="nodes",
    address_prefix="10.8.0.0/20",
)

cluster = kubeflow_spot.KubeflowCluster(
    "ml",
    release="r2026-11",
    cluster=kubeflow_spot.ClusterArgs(name="ml-team"),
    cloud=kubeflow_spot.AzureArgs(
        provider="azure",
        location="westeurope",
        existing_resource_group=group.name,
        network=kubeflow_spot.AzureNetworkArgs(
            policy="calico",
            existing=kubeflow_spot.AzureExistingNetworkArgs(
                resource_group=group.name, name=network.name, subnet=nodes.name.apply(str)
            ),
        ),
    ),
    system_pool=kubeflow_spot.SystemPoolArgs(machine="Standard_D4ds_v5", max_nodes=4),
    pools=[
        kubeflow_spot.PoolArgs(name="general", machine="Standard_D8ds_v5", max_nodes=6),
        kubeflow_spot.PoolArgs(name="t4", machine="Standard_NC4as_T4_v3", capacity="spot", max_nodes=8),
    ],
)
pulumi.export("kubeconfig", cluster.kubeconfig)
pulumi.export("pools", cluster.pools)
pulumi.export("remembered", cluster.remembered)
