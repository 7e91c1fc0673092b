"""The virtual network of the nodes: a new one, or an existing one."""

from __future__ import annotations

import pulumi
from pulumi_azure_native import authorization, network

from components import references
from components.azure.placed import Placed
from config.clouds.azure.azure_network import NODE_SUBNET, AzureNetwork
from config.model.fields import Reference


def subnet_path(
    spec: AzureNetwork, subnet: Reference | None, *, resource_group: Reference, name: str
) -> str | None:
    """Return a subnet's id without its subscription; None if a part is unknown."""
    existing = spec.existing
    group, vnet = (
        (existing.resource_group, existing.name) if existing else (resource_group, Reference(name))
    )
    chosen = subnet or (existing.subnet if existing else Reference(NODE_SUBNET))
    if None in (group.known, vnet.known, chosen.known):
        return None
    network = (
        f"/resourceGroups/{group.text}/providers/Microsoft.Network/virtualNetworks/{vnet.text}"
    )
    return f"{network}/subnets/{chosen.text}"


class Network(pulumi.ComponentResource):
    """A virtual network with the subnets that pools name; pods have an overlay network.

    It deliberately declares nothing of an existing network: its ids follow from its names.
    """

    id: pulumi.Output[str]
    default: Reference
    """The name of the subnet of pools that name none."""

    def __init__(
        self,
        name: str,
        spec: AzureNetwork,
        placed: Placed,
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("kubeflow-spot:azure:Network", name, None, opts)
        self._subnets: dict[str, pulumi.Output[str]] = {}
        if spec.existing:
            self.default = spec.existing.subnet
            subscription = authorization.get_client_config(
                pulumi.InvokeOptions(parent=self)
            ).subscription_id
            self.id = pulumi.Output.format(
                "/subscriptions/{0}/resourceGroups/{1}/providers/Microsoft.Network/virtualNetworks/{2}",
                subscription,
                references.output(spec.existing.resource_group),
                references.output(spec.existing.name),
            )
        else:
            self.default = Reference(NODE_SUBNET)
            self._declare(name, spec, placed)
        self.register_outputs({"subnetId": self.subnet_id(None)})

    def subnet_id(self, subnet: Reference | None) -> pulumi.Output[str]:
        """Return the id of a subnet by name; None is the subnet of pools that name none."""
        chosen = subnet or self.default
        # Subnets of an existing network are unknown here; the id is built from the name.
        return self._subnets.get(chosen.text) or pulumi.Output.concat(
            self.id, "/subnets/", references.output(chosen)
        )

    def _declare(self, name: str, spec: AzureNetwork, placed: Placed) -> None:
        child = pulumi.ResourceOptions(parent=self)
        vnet = network.VirtualNetwork(
            f"{name}-vnet",
            **placed.inputs,
            virtual_network_name=placed.cluster,
            address_space=network.AddressSpaceArgs(address_prefixes=[spec.address_space]),
            # Inline and standalone subnets would overwrite each other.
            opts=pulumi.ResourceOptions(parent=self, ignore_changes=["subnets"]),
        )
        self.id = vnet.id
        # The subnets need the gateway before the cluster exists (page nat-gateway).
        gateway = (
            self._nat_gateway(name, placed)
            if spec.outbound_type == "userAssignedNATGateway"
            else None
        )
        for subnet, prefix in {NODE_SUBNET: spec.node_subnet, **spec.subnets}.items():
            declared = network.Subnet(
                f"{name}-{subnet}",
                subnet_name=subnet,
                virtual_network_name=vnet.name,
                resource_group_name=placed.resource_group,
                address_prefix=prefix,
                nat_gateway=network.SubResourceArgs(id=gateway.id) if gateway else None,
                opts=child,
            )
            self._subnets[subnet] = declared.id

    def _nat_gateway(self, name: str, placed: Placed) -> network.NatGateway:
        child = pulumi.ResourceOptions(parent=self)
        address = network.PublicIPAddress(
            f"{name}-nat",
            **placed.inputs,
            public_ip_address_name=f"{placed.cluster}-nat",
            # A NAT gateway takes addresses of this kind only.
            sku=network.PublicIPAddressSkuArgs(name="Standard"),
            public_ip_allocation_method="Static",
            opts=child,
        )
        return network.NatGateway(
            f"{name}-nat",
            **placed.inputs,
            nat_gateway_name=placed.cluster,
            sku=network.NatGatewaySkuArgs(name="Standard"),
            public_ip_addresses=[network.SubResourceArgs(id=address.id)],
            opts=child,
        )
