"""Key vaults, as far as a disk encryption set or a role refers to one: no keys, no secrets."""

from __future__ import annotations

from typing import ClassVar

from sandbox.azure import ids
from sandbox.azure.resources.resource_type import GROUP_NAME, NameRule, Tracked
from sandbox.cloud.state import Body, Resources


class Vault(Tracked):
    """`Microsoft.KeyVault/vaults`. Defaults are those of the REST specification."""

    token = "azure-native:keyvault:Vault"
    path = (
        "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}"
        "/providers/Microsoft.KeyVault/vaults/{vaultName}"
    )
    names: ClassVar[dict[str, NameRule]] = {
        "resourceGroupName": GROUP_NAME,
        "vaultName": NameRule(pattern=r"^[a-zA-Z0-9-]{3,24}$"),
    }

    def made(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        properties = {
            "accessPolicies": [],
            "enableSoftDelete": True,
            "softDeleteRetentionInDays": 90,
            "publicNetworkAccess": "Enabled",
            **wanted["properties"],
            "vaultUri": f"https://{ids.last(id).lower()}.vault.azure.net/",
            "provisioningState": "Succeeded",
        }
        return {**wanted, "properties": properties}
