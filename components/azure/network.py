"""The virtual network of the nodes: made here, or somebody else's."""

from __future__ import annotations

import pulumi

from components import links
from components.azure.placed import Placed
from components.azure.types import CLIENT_CONFIG, NAT_GATEWAY, PUBLIC_IP_ADDRESS, SUBNET, VIRTUAL_NETWORK
from components.resources import Declared, call
from config.clouds.azure.settings import NODE_SUBNET, AzureNetwork


def subnet_path(spec: AzureNetwork, subnet: str | None, *, resource_group: str, name: str) -> str:
    """A subnet's id behind the subscription's, known before anything is declared; the network made here is `name`."""
    there = spec.existing
    group, vnet = (there.resource_group, there.name) if there else (resource_group, name)
    chosen = subnet or (there.subnet if there else NODE_SUBNET)
    return f"/resourceGroups/{group}/providers/Microsoft.Network/virtualNetworks/{vnet}/subnets/{chosen}"


class Network(pulumi.ComponentResource):
    """A virtual network with the subnets pools name; pods have an overlay of their own.

    Of somebody else's network nothing is declared: its ids follow from its names.
    """

    id: pulumi.Output[str]
    default: str
    """The name of the subnet of pools that name none."""

    def __init__(
        self, name: str, spec: AzureNetwork, placed: Placed, *, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("kubeflow-spot:azure:Network", name, None, opts)
        self._subnets: dict[str, pulumi.Output[str]] = {}
        if spec.existing:
            self.default = spec.existing.subnet
            subscription = call(CLIENT_CONFIG, {}, pulumi.InvokeOptions(parent=self))["subscriptionId"]
            self.id = pulumi.Output.format(
                "/subscriptions/{0}/resourceGroups/{1}/providers/Microsoft.Network/virtualNetworks/{2}",
                subscription,
                links.output(spec.existing.resource_group),
                links.output(spec.existing.name),
            )
        else:
            self.default = NODE_SUBNET
            self._declare(name, spec, placed)
        self.register_outputs({"subnetId": self.subnet_id(None)})

    def subnet_id(self, subnet: str | None) -> pulumi.Output[str]:
        """The id of a subnet by name; None is the one of pools that name none."""
        chosen = subnet or self.default
        # Whatever a network of somebody else has, nobody has told us.
        return self._subnets.get(chosen) or pulumi.Output.concat(self.id, "/subnets/", links.output(chosen))

    def _declare(self, name: str, spec: AzureNetwork, placed: Placed) -> None:
        child = pulumi.ResourceOptions(parent=self)
        vnet = Declared(
            VIRTUAL_NETWORK,
            f"{name}-vnet",
            {
                **placed.inputs,
                "virtualNetworkName": placed.cluster,
                "addressSpace": {"addressPrefixes": [spec.address_space]},
                "enableDdosProtection": False,
                "enableVmProtection": False,
            },
            # A subnet listed inside and declared outside would be each update's bone of contention.
            pulumi.ResourceOptions(parent=self, ignore_changes=["subnets"]),
        )
        self.id = vnet.id
        gateway = None
        if spec.outbound_type == "userAssignedNATGateway":
            # AKS wants it on the subnets before the cluster comes (page nat-gateway).
            address = Declared(
                PUBLIC_IP_ADDRESS,
                f"{name}-nat",
                {
                    **placed.inputs,
                    "publicIpAddressName": f"{placed.cluster}-nat",
                    # A NAT gateway takes addresses of this kind only.
                    "sku": {"name": "Standard"},
                    "publicIPAllocationMethod": "Static",
                },
                child,
            )
            gateway = Declared(
                NAT_GATEWAY,
                f"{name}-nat",
                {
                    **placed.inputs,
                    "natGatewayName": placed.cluster,
                    "sku": {"name": "Standard"},
                    "publicIpAddresses": [{"id": address.id}],
                },
                child,
            )
        for subnet, prefix in {NODE_SUBNET: spec.node_subnet, **spec.subnets}.items():
            declared = Declared(
                SUBNET,
                f"{name}-{subnet}",
                {
                    "subnetName": subnet,
                    "virtualNetworkName": vnet.name,
                    "resourceGroupName": placed.resource_group,
                    "addressPrefix": prefix,
                    "natGateway": {"id": gateway.id} if gateway else None,
                    "privateEndpointNetworkPolicies": "Disabled",
                    "privateLinkServiceNetworkPolicies": "Enabled",
                },
                child,
            )
            self._subnets[subnet] = declared.id
