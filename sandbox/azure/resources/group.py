"""Resource groups."""

from __future__ import annotations

from sandbox.azure import ids
from sandbox.azure.resources import network
from sandbox.azure.resources.kind import Kind, merged
from sandbox.azure.state import Body, Resources


class ResourceGroup(Kind):
    """`Microsoft.Resources/resourceGroups`. Deleting one deletes what is in it."""

    token = "azure-native:resources:ResourceGroup"
    path = "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}"
    force_new = frozenset({"location"})

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        body: Body = merged(current or {}, wanted)
        return {
            **body,
            "name": ids.last(id),
            "type": "Microsoft.Resources/resourceGroups",
            "properties": {"provisioningState": "Succeeded"},
        }

    def check_delete(self, resources: Resources, id: str) -> None:
        # A subnet in use blocks its group unless the user goes with the group.
        for subnet in resources.of(network.Subnet.token, below=id):
            network.require_unused(resources, subnet.id, going=id)
