"""Container registries, as far as a role at one is concerned: nothing can be pushed to them."""

from __future__ import annotations

from typing import ClassVar

from sandbox.azure import ids
from sandbox.azure.resources.resource_type import GROUP_NAME, NameRule, Tracked
from sandbox.cloud.state import Body, Resources


class Registry(Tracked):
    """`Microsoft.ContainerRegistry/registries`. Defaults are those of the REST specification."""

    token = "azure-native:containerregistry:Registry"
    path = (
        "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}"
        "/providers/Microsoft.ContainerRegistry/registries/{registryName}"
    )
    names: ClassVar[dict[str, NameRule]] = {
        "resourceGroupName": GROUP_NAME,
        "registryName": NameRule(longest=50, pattern=r"^[a-zA-Z0-9]*$", shortest=5),
    }
    force_new = frozenset({"location"})

    def made(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        return {
            "adminUserEnabled": False,
            "anonymousPullEnabled": False,
            "dataEndpointEnabled": False,
            "networkRuleBypassOptions": "AzureServices",
            "publicNetworkAccess": "Enabled",
            "zoneRedundancy": "Disabled",
            **wanted,
            "sku": {**wanted["sku"], "tier": wanted["sku"]["name"]},
            "loginServer": f"{ids.last(id).lower()}.azurecr.io",
        }
