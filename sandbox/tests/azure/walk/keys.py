"""Rules about keys of one's own, and about container logs."""

from __future__ import annotations

from typing import Any

from sandbox.azure import azure_ids
from sandbox.azure.resources import addon_rules, encryption_rules

from .grants import CONTROL, GROUP, GUID, OWN, both, granted
from .row import Put, Row, cluster

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
    Row(
        "key without a version",
        "page use-kms-etcd-encryption",
        encryption_rules.key,
        "InvalidParameter",
        "key identifier",
        confirmed=False,
        bad=_kms(keyId="https://keys.vault.azure.net/keys/etcd"),
        good=_kms(),
    ),
    Row(
        "key without an identity of one's own",
        "page use-kms-etcd-encryption",
        encryption_rules.key_identity,
        "BadRequest",
        "user-assigned managed identity",
        confirmed=False,
        bad=_kms(identity={"type": "SystemAssigned"}),
        good=_kms(),
    ),
    Row(
        "private vault that is not named",
        "telescope PR 1121",
        encryption_rules.vault,
        "BadRequest",
        "KeyVault resource ID is empty when KeyVault network access is Private.",
        bad=_kms(keyVaultNetworkAccess="Private", access={"enableVnetIntegration": True}),
        good=_kms(keyVaultNetworkAccess="Private", keyVaultResourceId=_VAULT, access={"enableVnetIntegration": True}),
    ),
    Row(
        "public vault that is named",
        "REST text",
        encryption_rules.vault,
        "BadRequest",
        "KeyVault resource ID is not empty when KeyVault network access is Public.",
        confirmed=False,
        bad=_kms(keyVaultResourceId=_VAULT),
        good=_kms(),
    ),
    Row(
        "private vault and an API server outside",
        "page use-kms-etcd-encryption",
        encryption_rules.private_vault,
        "BadRequest",
        "API server VNet integration",
        confirmed=False,
        bad=_kms(keyVaultNetworkAccess="Private", keyVaultResourceId=_VAULT),
        good=_kms(keyVaultNetworkAccess="Private", keyVaultResourceId=_VAULT, access={"enableVnetIntegration": True}),
    ),
    Row(
        "key the identity may not use",
        "azure-docs #98954",
        encryption_rules.key_permission,
        "AzureKeyVaultKmsValidateIdentityPermissionCustomerError",
        "The identity does not have keys encrypt/decrypt permission on key vault https://keys.vault.azure.net",
        given=(_VAULT_MADE, _ELSEWHERE),
        bad=_kms(),
        good=both(_CRYPTO_USER, _kms()),
    ),
    Row(
        "disk encryption set of another region",
        "page azure-disk-customer-managed-keys",
        encryption_rules.disks,
        "DiskEncryptionSetError",
        "is not in the cluster's region westeurope",
        confirmed=False,
        given=(_disks("northeurope"), _disks("westeurope", "near")),
        bad=cluster(diskEncryptionSetID=_DISKS),
        good=cluster(diskEncryptionSetID=_DISKS.replace("/disks", "/near")),
    ),
    Row(
        "container logs without a workspace",
        "page monitor-aks",
        addon_rules.log_workspace,
        "LogAnalyticsWorkspaceNotSet",
        "logAnalyticsWorkspaceResourceID",
        confirmed=False,
        given=(
            Put("azure-native:operationalinsights:Workspace", {"resourceGroupName": "ml", "workspaceName": "logs"}),
        ),
        bad=_logs(),
        good=_logs(logAnalyticsWorkspaceResourceID=_LOGS, useAADAuth="true"),
    ),
]
