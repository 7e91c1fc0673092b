"""Resource groups."""

from __future__ import annotations

from sandbox.azure import ids
from sandbox.azure.errors import arm
from sandbox.azure.resources import nat_gateway, network, public_address, route_table
from sandbox.azure.resources.resource_type import Kind, merged
from sandbox.cloud.state import Body, Resources

# What blocks its group while it is in use, unless the user goes with the group.
_HELD = {
    network.Subnet.token: network.require_unused,
    nat_gateway.NatGateway.token: nat_gateway.require_unused,
    public_address.PublicIPAddress.token: public_address.require_unused,
    route_table.RouteTable.token: route_table.require_unused,
}


class ResourceGroup(Kind):
    """`Microsoft.Resources/resourceGroups`. Deleting one deletes what is in it."""

    token = "azure-native:resources:ResourceGroup"
    path = "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}"
    force_new = frozenset({"location"})

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        body: Body = merged(current or {}, wanted)
        if not body.get("location"):
            raise arm("LocationRequired", "The location property is required for this definition.")
        return {
            **body,
            "name": ids.last(id),
            "type": "Microsoft.Resources/resourceGroups",
            "properties": {"provisioningState": "Succeeded"},
        }

    def check_delete(self, resources: Resources, id: str) -> None:
        for token, require_unused in _HELD.items():
            for record in resources.of(token, below=id):
                require_unused(resources, record.id, going=id)
