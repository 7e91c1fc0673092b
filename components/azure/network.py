"""The virtual network and the nodes' subnet."""

from __future__ import annotations

import pulumi
from pulumi_azure_native import network

from spec.azure import AzureNetwork


class Network(pulumi.ComponentResource):
    """One virtual network with one subnet for all node pools; pods have an overlay of their own."""

    subnet_id: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        spec: AzureNetwork,
        *,
        resource_group: pulumi.Input[str],
        location: str,
        tags: dict[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("kubeflow-spot:azure:Network", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        vnet = network.VirtualNetwork(
            f"{name}-vnet",
            virtual_network_name=name,
            resource_group_name=resource_group,
            location=location,
            address_space=network.AddressSpaceArgs(address_prefixes=[spec.address_space]),
            tags=tags,
            # A subnet listed inside and declared outside would be each update's bone of contention.
            opts=pulumi.ResourceOptions(parent=self, ignore_changes=["subnets"]),
        )
        subnet = network.Subnet(
            f"{name}-nodes",
            subnet_name="nodes",
            virtual_network_name=vnet.name,
            resource_group_name=resource_group,
            address_prefix=spec.node_subnet,
            opts=child,
        )
        self.subnet_id = subnet.id
        self.register_outputs({"subnetId": self.subnet_id})
