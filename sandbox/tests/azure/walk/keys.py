"""Rules about keys of one's own, and about container logs."""

from __future__ import annotations

from typing import Any

from sandbox.azure import azure_ids
from sandbox.azure.resources import access_rules
from sandbox.tests.rule_walk import ABSENT, Row

from .requests import CONTROL, GROUP, GUID, OWN, Put, cluster, granted

_KEY = "https://keys.vault.azure.net/keys/etcd/1"
_VAULT = f"{GROUP}/providers/Microsoft.KeyVault/vaults/keys"
_DISKS = f"{GROUP}/providers/Microsoft.Compute/diskEncryptionSets/disks"
_LOGS = f"{GROUP}/providers/Microsoft.OperationalInsights/workspaces/logs"
_VAULT_MADE = Put(
    "azure-native:keyvault:Vault",
    {
        "resourceGroupName": "ml",
        "vaultName": "keys",
        "properties": {"tenantId": azure_ids.TENANT, "sku": {"family": "A", "name": "standard"}},
    },
)
_CRYPTO_USER = granted("12338af0-0e69-4776-bea7-57ae8d297424", _VAULT)
_ELSEWHERE = granted("12338af0-0e69-4776-bea7-57ae8d297424", CONTROL, GUID.replace("1", "2"))


def _kms(identity: Any = OWN, access: Any = None, **changes: Any) -> Put:
    kms = {"enabled": True, "keyId": _KEY, **changes}
    return cluster(
        identity=identity,
        securityProfile={"azureKeyVaultKms": kms},
        **({"apiServerAccessProfile": access} if access else {}),
    )


def _logs(**config: str) -> Put:
    return cluster(addonProfiles={"omsagent": {"enabled": True, "config": config}})


def _disks(location: str, name: str = "disks") -> Put:
    return Put(
        "azure-native:compute:DiskEncryptionSet",
        {
            "resourceGroupName": "ml",
            "diskEncryptionSetName": name,
            "location": location,
            "identity": {"type": "SystemAssigned"},
            "activeKey": {"keyUrl": _KEY},
        },
    )


ROWS = [
    Row("key without a version", access_rules.key, "page use-kms-etcd-encryption")
    .assumes("InvalidParameter", "key identifier")
    .tries(_kms, keyId=("https://keys.vault.azure.net/keys/etcd", ABSENT)),
    Row("key without an identity of one's own", access_rules.key_identity, "page use-kms-etcd-encryption")
    .assumes("BadRequest", "user-assigned managed identity")
    .tries(_kms, identity=({"type": "SystemAssigned"}, ABSENT)),
    Row("private vault that is not named", access_rules.vault, "telescope PR 1121")
    .says("BadRequest", "KeyVault resource ID is empty when KeyVault network access is Private.")
    .tries(
        _kms,
        keyVaultNetworkAccess="Private",
        access={"enableVnetIntegration": True},
        keyVaultResourceId=(ABSENT, _VAULT),
    ),
    Row("public vault that is named", access_rules.vault, "REST text")
    .assumes("BadRequest", "KeyVault resource ID is not empty when KeyVault network access is Public.")
    .tries(_kms, keyVaultResourceId=(_VAULT, ABSENT)),
    Row("private vault and an API server outside", access_rules.private_vault, "page use-kms-etcd-encryption")
    .assumes("BadRequest", "API server VNet integration")
    .tries(
        _kms,
        keyVaultNetworkAccess="Private",
        keyVaultResourceId=_VAULT,
        access=(ABSENT, {"enableVnetIntegration": True}),
    ),
    Row("key the identity may not use", access_rules.key_permission, "azure-docs #98954")
    .says(
        "AzureKeyVaultKmsValidateIdentityPermissionCustomerError",
        "The identity does not have keys encrypt/decrypt permission on key vault https://keys.vault.azure.net",
    )
    .given(_VAULT_MADE, _ELSEWHERE)
    .refuses(_kms())
    .accepts(_CRYPTO_USER, _kms()),
    Row("disk encryption set of another region", access_rules.disks, "page azure-disk-customer-managed-keys")
    .assumes("DiskEncryptionSetError", "is not in the cluster's region westeurope")
    .given(_disks("northeurope"), _disks("westeurope", "near"))
    .tries(cluster, diskEncryptionSetID=(_DISKS, _DISKS.replace("/disks", "/near"))),
    Row("container logs without a workspace", access_rules.log_workspace, "page monitor-aks")
    .assumes("LogAnalyticsWorkspaceNotSet", "logAnalyticsWorkspaceResourceID")
    .given(Put("azure-native:operationalinsights:Workspace", {"resourceGroupName": "ml", "workspaceName": "logs"}))
    .tries(_logs, logAnalyticsWorkspaceResourceID=(ABSENT, _LOGS), useAADAuth=(ABSENT, "true")),
]
