"""Disk encryption sets, as far as a cluster refers to one."""

from __future__ import annotations

from typing import ClassVar

from sandbox.azure.errors import arm
from sandbox.azure.resources import reference
from sandbox.azure.resources.resource_type import GROUP_NAME, NameRule, Tracked
from sandbox.azure.resources.vault import Vault
from sandbox.cloud.state import Body, Resources


class DiskEncryptionSet(Tracked):
    """`Microsoft.Compute/diskEncryptionSets`. Whether its identity may read the key is not looked at."""

    token = "azure-native:compute:DiskEncryptionSet"
    path = (
        "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}"
        "/providers/Microsoft.Compute/diskEncryptionSets/{diskEncryptionSetName}"
    )
    # The parameter's description in the specification.
    names: ClassVar[dict[str, NameRule]] = {
        "resourceGroupName": GROUP_NAME,
        "diskEncryptionSetName": NameRule(longest=80, pattern=r"^[A-Za-z0-9_-]+$"),
    }
    force_new = frozenset({"location"})

    def made(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        # Codes and texts of both are UNCONFIRMED.
        if "activeKey" not in wanted or wanted.get("identity", {}).get("type", "None") == "None":
            raise arm("InvalidParameter", "Required parameter 'activeKey' or 'identity' is missing (null).")
        vault = wanted["activeKey"].get("sourceVault", {}).get("id")
        if vault:
            reference.existing(resources, vault, Vault.token)
        return {"encryptionType": "EncryptionAtRestWithCustomerKey", **wanted}
