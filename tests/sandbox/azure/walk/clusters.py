"""Rules about the control plane: identity, names, versions, access, encryption, add-ons, autoscaler, operations."""

from __future__ import annotations

from typing import Any

from sandbox.azure import ids, operations
from sandbox.azure.resources import (
    access_rules,
    addon_rules,
    autoscaler_rules,
    cluster_rules,
    encryption_rules,
    fleet_rules,
)
from sandbox.azure.state import Store
from sandbox.azure.throttle import Throttle

from ..conftest import CLUSTER, CLUSTER_INPUTS, IDENTITY, POOL, REGULAR, ROLE, SPOT, SYSTEM, Account
from .row import Delete, Put, Row, Step, cluster, id_of, pool

_GROUP = f"/subscriptions/{ids.SUBSCRIPTION}/resourceGroups/ml"
_CPU = id_of(POOL, resourceGroupName="ml", resourceName="aks", agentPoolName="cpu")
_ABSENT = f"{_GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/no"
_CONTROL = id_of(IDENTITY, resourceGroupName="ml", resourceName="control")
_OWN = {"type": "UserAssigned", "userAssignedIdentities": [_CONTROL]}
_ZONE = f"{_GROUP}/providers/Microsoft.Network/privateDnsZones/privatelink.westeurope.azmk8s.io"
_KEY = "https://keys.vault.azure.net/keys/etcd/1"
_VAULT = f"{_GROUP}/providers/Microsoft.KeyVault/vaults/keys"
_DISKS = f"{_GROUP}/providers/Microsoft.Compute/diskEncryptionSets/disks"
_LOGS = f"{_GROUP}/providers/Microsoft.OperationalInsights/workspaces/logs"
_TWO = id_of(CLUSTER, resourceGroupName="ml", resourceName="two")
_SENT = {k: v for k, v in CLUSTER_INPUTS.items() if k not in ("resourceGroupName", "resourceName")}
_AUTOSCALED = {**SYSTEM, "enableAutoScaling": True, "minCount": 1, "maxCount": 3}
_GUID = "11111111-1111-4111-8111-111111111111"


def _private(**changes: Any) -> Put:
    zone = {"enablePrivateCluster": True, "privateDNSZone": "none"}
    return cluster(apiServerAccessProfile={**zone, **changes}, identity=_OWN)


def _kms(identity: Any = _OWN, access: Any = None, **changes: Any) -> Put:
    kms = {"enabled": True, "keyId": _KEY, **changes}
    return cluster(
        identity=identity,
        securityProfile={"azureKeyVaultKms": kms},
        **({"apiServerAccessProfile": access} if access else {}),
    )


def _logs(**config: str) -> Put:
    return cluster(addonProfiles={"omsagent": {"enabled": True, "config": config}})


def _granted(role: str, scope: str, name: str = _GUID) -> Put:
    """A role for the identity `control`."""
    principal = ids.guid("principal", ids.key(_CONTROL))
    definition = f"/providers/Microsoft.Authorization/roleDefinitions/{role}"
    grant = {"principalId": principal, "principalType": "ServicePrincipal", "roleDefinitionId": definition}
    return Put(ROLE, {**grant, "scope": scope, "roleAssignmentName": name})


_VAULT_MADE = Put(
    "azure-native:keyvault:Vault",
    {
        "resourceGroupName": "ml",
        "vaultName": "keys",
        "properties": {"tenantId": ids.TENANT, "sku": {"family": "A", "name": "standard"}},
    },
)
_CRYPTO_USER = _granted("12338af0-0e69-4776-bea7-57ae8d297424", _VAULT)
_ELSEWHERE = _granted("12338af0-0e69-4776-bea7-57ae8d297424", _CONTROL, _GUID.replace("1", "2"))
_ZONE_CONTRIBUTOR = _granted("b12aa53e-6015-4669-85d0-8515ebb3ae7f", _ZONE)


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


def _marked(token: str, state: str, **parameters: str) -> Step:
    """A cluster or pool that another process is working on."""
    id = id_of(token, resourceGroupName="ml", **parameters)

    def mark(account: Account) -> None:
        with Store(account.state_file).change() as resources:
            resources.records[ids.key(id)].body["provisioningState"] = state

    return mark


def _both(first: Step, then: Step) -> Step:
    def steps(account: Account) -> None:
        first(account)
        then(account)

    return steps


def _twenty_times(account: Account) -> None:
    for _ in range(20):
        account.cloud._throttle.admit(_CPU)
    # Whoever waits now waits in vain.
    account.clock.wait = lambda seconds: None  # type: ignore[method-assign]
    account.cloud._throttle._wait = account.clock.wait


ROWS = [
    Row(
        "no identity",
        "1.1",
        cluster_rules.identity,
        "InvalidParameter",
        "servicePrincipalProfile",
        bad=cluster(identity=None),
        good=cluster(identity={"type": "SystemAssigned"}),
    ),
    Row(
        "identity that is not there",
        "1.1",
        cluster_rules.identity,
        "ResourceNotFound",
        "'Microsoft.ManagedIdentity/userAssignedIdentities/no' under resource group 'ml' was not found.",
        bad=cluster(identity={"type": "UserAssigned", "userAssignedIdentities": [_ABSENT]}),
        good=cluster(identity=_OWN),
    ),
    Row(
        "no location",
        "ARM",
        cluster_rules.location,
        "LocationRequired",
        "The location property is required",
        # The provider always finds one, its own or the group's: only another client can leave it out.
        bad=lambda account: account.cloud.put(CLUSTER, _TWO, _SENT, create=True),
        good=lambda account: account.cloud.put(CLUSTER, _TWO, {**_SENT, "location": "westeurope"}, create=True),
    ),
    Row(
        "another region",
        "ARM",
        cluster_rules.moved,
        "InvalidResourceLocation",
        "already exists in location 'westeurope'",
        given=(cluster(),),
        bad=cluster(location="northeurope"),
        good=cluster(location="West Europe"),
    ),
    Row(
        "no DNS prefix",
        "1.1",
        cluster_rules.dns_name,
        "InvalidParameter",
        "Exactly one of dnsPrefix and fqdnSubdomain",
        bad=cluster(dnsPrefix=None),
        good=cluster(dnsPrefix="ml"),
    ),
    Row(
        "DNS prefix with a dot",
        "page aks-naming-rules",
        cluster_rules.dns_prefix,
        "InvalidParameter",
        "The value of parameter dnsPrefix is invalid.",
        bad=cluster(dnsPrefix="ml.dev"),
        good=cluster(dnsPrefix="ml-dev"),
    ),
    Row(
        "subdomain without a zone",
        "page private-clusters",
        access_rules.subdomain,
        "InvalidParameter",
        "fqdnSubdomain needs a custom private DNS zone",
        given=(_ZONE_CONTRIBUTOR,),
        bad=cluster(dnsPrefix=None, fqdnSubdomain="ml"),
        good=cluster(
            dnsPrefix=None,
            fqdnSubdomain="ml",
            identity=_OWN,
            apiServerAccessProfile={"enablePrivateCluster": True, "privateDNSZone": _ZONE},
        ),
    ),
    Row(
        "another DNS prefix",
        "3",
        cluster_rules.immutable_change,
        "PropertyChangeNotAllowed",
        "Changing property 'properties.dnsPrefix' is not allowed.",
        given=(cluster(),),
        bad=cluster(dnsPrefix="other"),
        good=cluster(dnsPrefix="ml"),
    ),
    Row(
        "public becomes private",
        "page private-clusters",
        cluster_rules.immutable_change,
        "PropertyChangeNotAllowed",
        "'properties.apiServerAccessProfile.enablePrivateCluster'",
        given=(cluster(),),
        bad=cluster(apiServerAccessProfile={"enablePrivateCluster": True}),
        good=cluster(apiServerAccessProfile={"enablePrivateCluster": False}),
    ),
    Row(
        "version not offered",
        "2.1",
        cluster_rules.version,
        "K8sVersionNotSupported",
        "Managed cluster two is on version 1.30 which is not supported in this region.",
        bad=cluster(kubernetesVersion="1.30"),
        good=cluster(kubernetesVersion="1.34"),
    ),
    Row(
        "unknown patch",
        "2.1",
        cluster_rules.version,
        "K8sVersionNotSupported",
        "Managed cluster two has invalid version 1.36.99.",
        bad=cluster(kubernetesVersion="1.36.99"),
        good=cluster(kubernetesVersion="1.36.2"),
    ),
    Row(
        "two minors at once",
        "page upgrade-aks-cluster",
        cluster_rules.version_step,
        "OperationNotAllowed",
        "Upgrading Kubernetes version 1.34.7 to 1.36 is not allowed.",
        given=(cluster(kubernetesVersion="1.34"),),
        bad=cluster(kubernetesVersion="1.36"),
        good=cluster(kubernetesVersion="1.35"),
    ),
    Row(
        "back to an older version",
        "page upgrade-aks-cluster",
        cluster_rules.version_step,
        "OperationNotAllowed",
        "Upgrading Kubernetes version 1.35.5 to 1.34 is not allowed.",
        given=(cluster(),),
        bad=cluster(kubernetesVersion="1.34"),
        good=cluster(kubernetesVersion="1.35"),
    ),
    Row(
        "spot pool upgraded with its cluster",
        "page spot-node-pool",
        cluster_rules.spot_with_cluster,
        "SpotPoolUpgradeNotAllowedDuringClusterUpgradeAll",
        "Spot pool t4spot",
        given=(pool(SPOT),),
        bad=Put(
            CLUSTER,
            {
                **CLUSTER_INPUTS,
                "kubernetesVersion": "1.36",
                "agentPoolProfiles": [{"name": "t4spot", "orchestratorVersion": "1.36"}],
            },
        ),
        good=Put(CLUSTER, {**CLUSTER_INPUTS, "kubernetesVersion": "1.36"}),
    ),
    Row(
        "long-term support below Premium",
        "page long-term-support",
        cluster_rules.support_plan,
        "BadRequest",
        "needs the Premium tier",
        bad=cluster(supportPlan="AKSLongTermSupport", sku={"name": "Base", "tier": "Standard"}),
        good=cluster(supportPlan="AKSLongTermSupport", sku={"name": "Base", "tier": "Premium"}),
    ),
    Row(
        "issuer switched off",
        "page use-oidc-issuer",
        cluster_rules.issuer_stays,
        "OIDCIssuerCannotBeDisabled",
        "cannot be disabled",
        given=(cluster(oidcIssuerProfile={"enabled": True}),),
        bad=cluster(oidcIssuerProfile={"enabled": False}),
        good=cluster(),
    ),
    Row(
        "workload identity without the issuer",
        "page workload-identity-deploy-cluster",
        cluster_rules.workload_identity,
        "BadRequest",
        "needs the OIDC issuer",
        bad=cluster(securityProfile={"workloadIdentity": {"enabled": True}}),
        good=cluster(securityProfile={"workloadIdentity": {"enabled": True}}, oidcIssuerProfile={"enabled": True}),
    ),
    Row(
        "no system pool",
        "2.1, 7.6",
        fleet_rules.system_pool,
        "MustDefineAtLeastOneSystemPool",
        "Must define at least one system pool.",
        bad=cluster(agentPoolProfiles=[{**SYSTEM, "mode": "User"}]),
        good=cluster(agentPoolProfiles=[{**SYSTEM, "name": "user", "mode": "User"}, SYSTEM]),
    ),
    Row(
        "last system pool becomes another",
        "2.1, 7.6",
        fleet_rules.system_pool,
        "MustDefineAtLeastOneSystemPool",
        "Must define at least one system pool.",
        bad=pool(REGULAR, agentPoolName="system", count=1, mode="User"),
        good=pool(REGULAR, agentPoolName="system", count=1, mode="System"),
    ),
    Row(
        "last system pool deleted",
        "2.1, 7.6",
        fleet_rules.system_pool,
        "OperationNotAllowed",
        "There has to be at least one system agent pool.",
        given=(pool(REGULAR),),
        bad=Delete("system"),
        good=Delete("cpu"),
    ),
    Row(
        "last pool deleted",
        "2.1",
        fleet_rules.some_pool,
        "OperationNotAllowed",
        "There has to be at least one agent pool.",
        bad=Delete("system"),
        good=Delete("no"),
    ),
    Row(
        "more than 100 pools",
        "page quotas-skus-regions",
        fleet_rules.number_of_pools,
        "MaxAgentPoolCountReached",
        "at most 100",
        bad=cluster(agentPoolProfiles=[{**SYSTEM, "name": f"p{n}"} for n in range(101)]),
        good=cluster(agentPoolProfiles=[{**SYSTEM, "name": f"p{n}"} for n in range(100)]),
    ),
    Row(
        "two pools of one name",
        "1.2",
        cluster_rules.pools_named_once,
        "InvalidParameter",
        "must be unique",
        bad=cluster(agentPoolProfiles=[SYSTEM, SYSTEM]),
        good=cluster(agentPoolProfiles=[SYSTEM, {**SYSTEM, "name": "system2"}]),
    ),
    Row(
        "new inline pool on an update",
        "2.1, 7.16",
        cluster_rules.new_inline_pool,
        "BadRequest",
        "A new agent pool was introduced.",
        given=(cluster(),),
        bad=cluster(agentPoolProfiles=[SYSTEM, {**SYSTEM, "name": "new"}]),
        good=cluster(agentPoolProfiles=[SYSTEM]),
    ),
    Row(
        "pools left behind by their cluster",
        "2.1, 7.11",
        fleet_rules.skew,
        "NodePoolMcVersionIncompatible",
        "Node pool version 1.33.9 and control plane version 1.36.2 are incompatible.",
        given=(
            cluster(),
            pool(REGULAR, resourceName="two"),
            lambda account: _older(account, "1.33.9"),
        ),
        bad=cluster(kubernetesVersion="1.36"),
        good=cluster(kubernetesVersion="1.35.5"),
    ),
    Row(
        "node auto-provisioning with autoscaled pools",
        "2.1",
        fleet_rules.node_provisioning,
        "OperationNotAllowed",
        ".properties.nodeProvisioningProfile.mode cannot be Auto",
        bad=cluster(nodeProvisioningProfile={"mode": "Auto"}, agentPoolProfiles=[_AUTOSCALED]),
        good=cluster(nodeProvisioningProfile={"mode": "Auto"}),
    ),
    Row(
        "autoscaled pool under node auto-provisioning",
        "2.1",
        fleet_rules.node_provisioning,
        "OperationNotAllowed",
        ".properties.nodeProvisioningProfile.mode cannot be Auto",
        given=(cluster(nodeProvisioningProfile={"mode": "Auto"}),),
        bad=pool(SPOT, resourceName="two"),
        good=pool(REGULAR, resourceName="two"),
    ),
    Row(
        "node auto-provisioning with IPv6",
        "2.1",
        cluster_rules.node_provisioning,
        "OperationNotAllowed",
        "unless .properties.networkProfile.ipFamilies is set to one of [IPv4].",
        bad=cluster(nodeProvisioningProfile={"mode": "Auto"}, networkProfile={"ipFamilies": ["IPv4", "IPv6"]}),
        good=cluster(networkProfile={"ipFamilies": ["IPv4", "IPv6"]}),
    ),
    Row(
        "node auto-provisioning with a service principal",
        "2.1",
        cluster_rules.node_provisioning,
        "OperationNotAllowed",
        "if .properties.servicePrincipalProfile is specified.",
        bad=cluster(
            nodeProvisioningProfile={"mode": "Auto"},
            identity=None,
            servicePrincipalProfile={"clientId": _GUID, "secret": "x"},
        ),
        good=cluster(identity=None, servicePrincipalProfile={"clientId": _GUID, "secret": "x"}),
    ),
    Row(
        "local accounts off without Entra",
        "2.1",
        access_rules.local_accounts,
        "BadRequest",
        "disableLocalAccounts can only be set on Azure AD integration enabled cluster.",
        bad=cluster(disableLocalAccounts=True),
        good=cluster(disableLocalAccounts=True, aadProfile={"managed": True}),
    ),
    Row(
        "Azure RBAC without Entra",
        "REST text",
        access_rules.entra,
        "BadRequest",
        "Azure RBAC needs managed AAD.",
        bad=cluster(aadProfile={"managed": False, "enableAzureRBAC": True}),
        good=cluster(aadProfile={"managed": True, "enableAzureRBAC": True}),
    ),
    Row(
        "administrators' group by name",
        "page enable-authentication",
        access_rules.entra,
        "InvalidAdminGroupObjectID",
        "admins",
        bad=cluster(aadProfile={"managed": True, "adminGroupObjectIDs": ["admins"]}),
        good=cluster(aadProfile={"managed": True, "adminGroupObjectIDs": [_GUID]}),
    ),
    Row(
        "Entra switched off",
        "page enable-authentication",
        access_rules.entra_stays,
        "PropertyChangeNotAllowed",
        "aadProfile.managed",
        given=(cluster(aadProfile={"managed": True}),),
        bad=cluster(aadProfile={"managed": False}),
        good=cluster(),
    ),
    Row(
        "authorised ranges on a private cluster",
        "2.1",
        access_rules.private_ranges,
        "InvalidParameter",
        "Private cluster cannot be enabled with AuthorizedIPRanges.",
        bad=cluster(apiServerAccessProfile={"enablePrivateCluster": True, "authorizedIPRanges": ["1.2.3.4/32"]}),
        good=cluster(apiServerAccessProfile={"enablePrivateCluster": False, "authorizedIPRanges": ["1.2.3.4/32"]}),
    ),
    Row(
        "authorised range that is none",
        "REST text",
        access_rules.range_formats,
        "InvalidParameter",
        "1.2.3.4 is not in CIDR format",
        bad=cluster(apiServerAccessProfile={"authorizedIPRanges": ["1.2.3.4"]}),
        good=cluster(apiServerAccessProfile={"authorizedIPRanges": ["1.2.3.4/32"]}),
    ),
    Row(
        "too many authorised ranges",
        "page api-server-authorized-ip-ranges",
        access_rules.range_formats,
        "InvalidParameter",
        "201 authorized IP ranges",
        bad=cluster(apiServerAccessProfile={"authorizedIPRanges": ["1.2.3.4/32"] * 201}),
        good=cluster(apiServerAccessProfile={"authorizedIPRanges": ["1.2.3.4/32"] * 200}),
    ),
    Row(
        "private DNS zone of a public cluster",
        "page private-clusters",
        access_rules.zone_mode,
        "InvalidPrivateDNSZoneMode",
        "the cluster is not private",
        bad=_private(enablePrivateCluster=False),
        good=_private(),
    ),
    Row(
        "no DNS name at all",
        "page private-clusters",
        access_rules.zone_without_name,
        "NonePrivateDNSZonePublicFQDNDisabledError",
        "cannot be disabled",
        bad=_private(enablePrivateClusterPublicFQDN=False),
        good=_private(enablePrivateClusterPublicFQDN=True),
    ),
    Row(
        "private DNS zone of another name",
        "page private-clusters",
        access_rules.zone_name,
        "InvalidPrivateDNSZoneResourceID",
        "ml.example.com",
        given=(_ZONE_CONTRIBUTOR,),
        bad=_private(privateDNSZone=_ZONE.replace("privatelink.westeurope.azmk8s.io", "ml.example.com")),
        good=_private(privateDNSZone=_ZONE),
    ),
    Row(
        "private DNS zone without an identity of one's own",
        "page private-clusters",
        access_rules.zone_identity,
        "SystemAssignedIdentityNotSupportedForCustomPrivateDNSZone",
        "user-assigned identity",
        bad=cluster(apiServerAccessProfile={"enablePrivateCluster": True, "privateDNSZone": _ZONE}),
        good=cluster(apiServerAccessProfile={"enablePrivateCluster": True, "privateDNSZone": "system"}),
    ),
    Row(
        "private DNS zone the identity may not write",
        "page customprivatednszonemissingpermissions",
        access_rules.zone_permission,
        "CustomPrivateDNSZoneMissingPermissionError",
        "Check access result not allowed for action Microsoft.Network/privateDnsZones/read.",
        bad=_private(privateDNSZone=_ZONE),
        good=_both(_ZONE_CONTRIBUTOR, _private(privateDNSZone=_ZONE)),
    ),
    Row(
        "API server in a subnet that is not there",
        "1.1",
        access_rules.api_server_subnet,
        "ResourceNotFound",
        "virtualNetworks/net/subnets/no",
        bad=cluster(
            apiServerAccessProfile={"subnetId": f"{_GROUP}/providers/Microsoft.Network/virtualNetworks/net/subnets/no"}
        ),
        good=cluster(
            apiServerAccessProfile={
                "subnetId": f"{_GROUP}/providers/Microsoft.Network/virtualNetworks/net/subnets/nodes"
            }
        ),
    ),
    *(
        Row(
            f"{field} {value}",
            "page cluster-autoscaler",
            autoscaler_rules.profile_formats,
            "InvalidParameter",
            f"Invalid value specified for the cluster-autoscaler parameter '{flag}'.",
            bad=cluster(autoScalerProfile={field: value}),
            good=cluster(autoScalerProfile={field: neighbour}),
        )
        for field, flag, value, neighbour in (
            ("scanInterval", "scan-interval", "1m", "60s"),
            ("maxNodeProvisionTime", "max-node-provision-time", "900s", "15m"),
            ("scaleDownDelayAfterAdd", "scale-down-delay-after-add", "10", "0m"),
            ("scaleDownDelayAfterDelete", "scale-down-delay-after-delete", "1h", "10s"),
            ("scaleDownDelayAfterFailure", "scale-down-delay-after-failure", "30s", "3m"),
            ("scaleDownUnneededTime", "scale-down-unneeded-time", "0s", "10m"),
            ("scaleDownUnreadyTime", "scale-down-unready-time", "20", "20m"),
            ("newPodScaleUpDelay", "new-pod-scale-up-delay", "10", "10s"),
            ("maxGracefulTerminationSec", "max-graceful-termination-sec", "600s", "600"),
            ("maxEmptyBulkDelete", "max-empty-bulk-delete", "0", "1"),
            ("okTotalUnreadyCount", "ok-total-unready-count", "-1", "0"),
            ("maxTotalUnreadyPercentage", "max-total-unready-percentage", "101", "100"),
            ("scaleDownUtilizationThreshold", "scale-down-utilization-threshold", "1.5", "0.5"),
            ("balanceSimilarNodeGroups", "balance-similar-node-groups", "yes", "true"),
            ("skipNodesWithLocalStorage", "skip-nodes-with-local-storage", "False", "false"),
            ("skipNodesWithSystemPods", "skip-nodes-with-system-pods", "1", "true"),
        )
    ),
    Row(
        "key without a version",
        "page use-kms-etcd-encryption",
        encryption_rules.key,
        "InvalidParameter",
        "key identifier",
        bad=_kms(keyId="https://keys.vault.azure.net/keys/etcd"),
        good=_kms(),
    ),
    Row(
        "key without an identity of one's own",
        "page use-kms-etcd-encryption",
        encryption_rules.key_identity,
        "BadRequest",
        "user-assigned managed identity",
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
        "private vault and an API server outside",
        "page use-kms-etcd-encryption",
        encryption_rules.private_vault,
        "BadRequest",
        "API server VNet integration",
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
        good=_both(_CRYPTO_USER, _kms()),
    ),
    Row(
        "disk encryption set of another region",
        "page azure-disk-customer-managed-keys",
        encryption_rules.disks,
        "DiskEncryptionSetError",
        "is not in the cluster's region westeurope",
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
        given=(
            Put("azure-native:operationalinsights:Workspace", {"resourceGroupName": "ml", "workspaceName": "logs"}),
        ),
        bad=_logs(),
        good=_logs(logAnalyticsWorkspaceResourceID=_LOGS, useAADAuth="true"),
    ),
    Row(
        "a pool that is worked on",
        "2.1, 7.15",
        operations.conflict,
        "OperationNotAllowed",
        "Operation is not allowed: Another operation (cpu - Updating) is in progress, please wait for it to finish before "
        "starting a new operation. See https://aka.ms/aks-pending-operation for more details",
        given=(pool(REGULAR), _marked(POOL, "Updating", resourceName="aks", agentPoolName="cpu")),
        bad=pool(REGULAR, count=3),
        good=pool(REGULAR, agentPoolName="other"),
    ),
    Row(
        "a cluster one of whose pools is worked on",
        "2.1, 7.15",
        operations.conflict,
        "OperationNotAllowed",
        "Another operation (system - Creating) is in progress",
        given=(cluster(), _marked(POOL, "Creating", resourceName="two", agentPoolName="system")),
        bad=cluster(tags={"a": "b"}),
        good=Put(CLUSTER, {**CLUSTER_INPUTS, "tags": {"a": "b"}}),
    ),
    Row(
        "a pool whose cluster is worked on",
        "2.1, 7.15",
        operations.conflict,
        "OperationNotAllowed",
        "Another operation (aks - Deleting) is in progress",
        given=(cluster(), _marked(CLUSTER, "Deleting", resourceName="aks")),
        bad=pool(REGULAR),
        good=pool(REGULAR, resourceName="two"),
    ),
    Row(
        "a pool deleted that is worked on",
        "2.1, 7.15",
        operations.conflict,
        "OperationNotAllowed",
        "Another operation (cpu - Updating) is in progress",
        given=(
            pool(REGULAR),
            pool(REGULAR, agentPoolName="other"),
            _marked(POOL, "Updating", resourceName="aks", agentPoolName="cpu"),
        ),
        bad=Delete("cpu"),
        good=Delete("other"),
    ),
    Row(
        "the twenty-first PUT",
        "2.1, 7.18",
        Throttle.admit,
        "Throttled",
        "The PutAgentPoolHandler.PUT request limit has been exceeded for agentpool "
        f"{_CPU}, please retry again in 60 seconds.",
        given=(_twenty_times,),
        bad=pool(REGULAR),
        good=pool(REGULAR, agentPoolName="other"),
    ),
]


def _older(account: Account, version: str) -> None:
    """A pool that stayed behind when versions were still offered that are not any more."""
    id = id_of(POOL, resourceGroupName="ml", resourceName="two", agentPoolName="cpu")
    with Store(account.state_file).change() as resources:
        resources.records[ids.key(id)].body["currentOrchestratorVersion"] = version
