"""Rules about who reaches the API server, and as whom; about keys of one's own, and container logs."""

from typing import Any

from sandbox.azure.resources import access_rules
from sandbox.tests.rule_walk import ABSENT, Row

from ..conftest import VAULT_INPUTS, ml
from .requests import CONTROL, GROUP, GUID, OWN, Put, cluster, granted

_ZONE = f"{GROUP}/providers/Microsoft.Network/privateDnsZones/privatelink.westeurope.azmk8s.io"
_ZONE_CONTRIBUTOR = granted("b12aa53e-6015-4669-85d0-8515ebb3ae7f", _ZONE)


def _private(**changes: Any) -> Put:
    zone = {"enablePrivateCluster": True, "privateDNSZone": "none"}
    return cluster(apiServerAccessProfile={**zone, **changes}, identity=OWN)


_SSH_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIUdLiferxCbbskouGVZQY/ELHjuAdXpjo1/s5u2Qeck"


def _login(key: str) -> Put:
    return cluster(linuxProfile={"adminUsername": "kim", "ssh": {"publicKeys": [{"keyData": key}]}})


_KEY = "https://keys.vault.azure.net/keys/etcd/1"
_VAULT = f"{GROUP}/providers/Microsoft.KeyVault/vaults/keys"
_DISKS = f"{GROUP}/providers/Microsoft.Compute/diskEncryptionSets/disks"
_LOGS = f"{GROUP}/providers/Microsoft.OperationalInsights/workspaces/logs"
_VAULT_MADE = Put("azure-native:keyvault:Vault", VAULT_INPUTS)
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
        ml(
            diskEncryptionSetName=name,
            location=location,
            identity={"type": "SystemAssigned"},
            activeKey={"keyUrl": _KEY},
        ),
    )


ROWS = [
    Row("key that is cut", access_rules.node_login, "azure-docs #74569")
    .says("The value of parameter linuxProfile.ssh.publicKeys.keyData is invalid.")
    .tries(_login, (_SSH_KEY[:-8], f"{_SSH_KEY} kim@example.com\n")),
    Row("key of another kind than it says", access_rules.node_login, "azure-docs #74569")
    .says("The value of parameter linuxProfile.ssh.publicKeys.keyData is invalid.")
    .tries(_login, (_SSH_KEY.replace("ssh-ed25519", "ssh-rsa"), _SSH_KEY)),
    Row("subdomain without a zone", access_rules.subdomain, "page private-clusters")
    .assumes("fqdnSubdomain needs a custom private DNS zone")
    .given(_ZONE_CONTRIBUTOR)
    .tries(
        cluster,
        dnsPrefix=None,
        fqdnSubdomain="ml",
        identity=(ABSENT, OWN),
        apiServerAccessProfile=(ABSENT, {"enablePrivateCluster": True, "privateDNSZone": _ZONE}),
    ),
    Row("local accounts off without Entra", access_rules.local_accounts, "2.1")
    .assumes("BadRequest", "disableLocalAccounts can only be set on Azure AD integration enabled cluster.")
    .tries(cluster, disableLocalAccounts=True, aadProfile=(ABSENT, {"managed": True})),
    Row("Azure RBAC without Entra", access_rules.entra, "REST text")
    .assumes("BadRequest", "Azure RBAC needs managed AAD.")
    .tries(cluster, aadProfile={"managed": (False, True), "enableAzureRBAC": True}),
    Row("administrators' group by name", access_rules.entra, "page enable-authentication")
    .assumes("InvalidAdminGroupObjectID", "admins")
    .tries(cluster, aadProfile={"managed": True, "adminGroupObjectIDs": [("admins", GUID)]}),
    Row("Entra switched off", access_rules.entra_stays, "page enable-authentication")
    .assumes("PropertyChangeNotAllowed", "aadProfile.managed")
    .given(cluster(aadProfile={"managed": True}))
    .tries(cluster, aadProfile=({"managed": False}, ABSENT)),
    Row("authorised ranges on a private cluster", access_rules.private_ranges, "2.1")
    .says("Private cluster cannot be enabled with AuthorizedIPRanges.")
    .tries(
        cluster, apiServerAccessProfile={"enablePrivateCluster": (True, False), "authorizedIPRanges": ["1.2.3.4/32"]}
    ),
    Row("authorised range that is none", access_rules.range_formats, "REST text")
    .assumes("1.2.3.4 is not in CIDR format")
    .tries(cluster, apiServerAccessProfile={"authorizedIPRanges": [("1.2.3.4", "1.2.3.4/32")]}),
    Row("too many authorised ranges", access_rules.range_formats, "page api-server-authorized-ip-ranges")
    .assumes("201 authorized IP ranges")
    .tries(cluster, apiServerAccessProfile={"authorizedIPRanges": (["1.2.3.4/32"] * 201, ["1.2.3.4/32"] * 200)}),
    Row("private DNS zone of a public cluster", access_rules.zone_mode, "page private-clusters")
    .assumes("InvalidPrivateDNSZoneMode", "the cluster is not private")
    .tries(_private, enablePrivateCluster=(False, ABSENT)),
    Row("no DNS name at all", access_rules.zone_without_name, "page private-clusters")
    .assumes("NonePrivateDNSZonePublicFQDNDisabledError", "cannot be disabled")
    .tries(_private, enablePrivateClusterPublicFQDN=(False, True)),
    Row("private DNS zone of another name", access_rules.zone_name, "page private-clusters")
    .assumes("InvalidPrivateDNSZoneResourceID", "ml.example.com")
    .given(_ZONE_CONTRIBUTOR)
    .tries(_private, privateDNSZone=(_ZONE.replace("privatelink.westeurope.azmk8s.io", "ml.example.com"), _ZONE)),
    Row("private DNS zone without an identity of one's own", access_rules.zone_identity, "page private-clusters")
    .assumes("SystemAssignedIdentityNotSupportedForCustomPrivateDNSZone", "user-assigned identity")
    .tries(cluster, apiServerAccessProfile={"enablePrivateCluster": True, "privateDNSZone": (_ZONE, "system")}),
    Row(
        "private DNS zone the identity may not write",
        access_rules.zone_permission,
        "page customprivatednszonemissingpermissions",
    )
    .says(
        "CustomPrivateDNSZoneMissingPermissionError",
        "Check access result not allowed for action Microsoft.Network/privateDnsZones/read.",
    )
    .refuses(_private(privateDNSZone=_ZONE))
    .accepts(_ZONE_CONTRIBUTOR, _private(privateDNSZone=_ZONE)),
    Row("API server in a subnet that is not there", access_rules.api_server_subnet, "1.1")
    .assumes("ResourceNotFound", "virtualNetworks/net/subnets/no")
    .tries(
        cluster,
        apiServerAccessProfile={
            "subnetId": (
                f"{GROUP}/providers/Microsoft.Network/virtualNetworks/net/subnets/no",
                f"{GROUP}/providers/Microsoft.Network/virtualNetworks/net/subnets/nodes",
            )
        },
    ),
    Row("key without a version", access_rules.key, "page use-kms-etcd-encryption")
    .assumes("key identifier")
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
    .given(Put("azure-native:operationalinsights:Workspace", ml(workspaceName="logs")))
    .tries(_logs, logAnalyticsWorkspaceResourceID=(ABSENT, _LOGS), useAADAuth=(ABSENT, "true")),
]
