"""Every emulated type accepts a request, refuses an unknown property, and reading back changes nothing."""

import pytest

from sandbox.azure import azure_ids, azure_schema
from sandbox.azure.resources.azure_table import TYPES
from sandbox.cloud.provider import UNKNOWN, Resource

from .conftest import (
    ADDRESS_INPUTS,
    CLUSTER_ID,
    CLUSTER_INPUTS,
    NAT_INPUTS,
    REGULAR,
    ROUTES_INPUTS,
    SYSTEM,
    VAULT_INPUTS,
    Account,
    CheckFailed,
    Props,
    deployment,
    ml,
    refusal,
)

GUID = "7f951dda-4ed3-4680-a7ca-43fe172d538d"
GROUP_ID = azure_ids.group_id(azure_ids.SUBSCRIPTION, "ml")
NETWORK_ID = f"{GROUP_ID}/providers/Microsoft.Network"
WORKSPACE_ID = f"{GROUP_ID}/providers/Microsoft.OperationalInsights/workspaces/logs"
INSIGHTS_ID = f"{GROUP_ID}/providers/Microsoft.Insights"

# One request for each type, in an order in which they can be made.
REQUESTS: dict[str, Props] = {
    "resources:ResourceGroup": ml(tags={"team": "ml"}),
    "network:PublicIPAddress": ADDRESS_INPUTS,
    "network:NatGateway": {**NAT_INPUTS, "publicIpAddresses": [{"id": f"{NETWORK_ID}/publicIPAddresses/egress"}]},
    "network:RouteTable": ROUTES_INPUTS,
    "network:VirtualNetwork": ml(virtualNetworkName="net", addressSpace={"addressPrefixes": ["10.100.0.0/16"]}),
    "network:Subnet": ml(
        virtualNetworkName="net",
        subnetName="nodes",
        addressPrefix="10.100.0.0/20",
        natGateway={"id": f"{NETWORK_ID}/natGateways/egress"},
        routeTable={"id": f"{NETWORK_ID}/routeTables/egress"},
    ),
    "managedidentity:UserAssignedIdentity": ml(resourceName="control"),
    "managedidentity:FederatedIdentityCredential": ml(
        resourceName="control",
        federatedIdentityCredentialResourceName="pipelines",
        issuer="https://issuer/",
        subject="system:serviceaccount:kubeflow:pipeline-runner",
        audiences=["api://AzureADTokenExchange"],
    ),
    "containerservice:ManagedCluster": {
        **CLUSTER_INPUTS,
        "agentPoolProfiles": [{**SYSTEM, "vnetSubnetID": f"{NETWORK_ID}/virtualNetworks/net/subnets/nodes"}],
    },
    "containerservice:AgentPool": REGULAR,
    "containerservice:MaintenanceConfiguration": ml(
        resourceName="aks",
        configName="aksManagedNodeOSUpgradeSchedule",
        maintenanceWindow={
            "schedule": {"weekly": {"dayOfWeek": "Sunday", "intervalWeeks": 1}},
            "startTime": "02:00",
            "durationHours": 4,
        },
    ),
    "resources:Deployment": deployment("system", SYSTEM),
    "containerregistry:Registry": ml(
        registryName="mlimages", sku={"name": "Premium"}, identity={"type": "SystemAssigned"}
    ),
    "authorization:RoleAssignment": {
        "principalId": azure_ids.USER_OBJECT,
        "roleAssignmentName": GUID,
        "roleDefinitionId": f"/providers/Microsoft.Authorization/roleDefinitions/{GUID}",
        "scope": f"{GROUP_ID}/providers/Microsoft.ContainerRegistry/registries/mlimages",
    },
    "keyvault:Vault": VAULT_INPUTS,
    "compute:DiskEncryptionSet": ml(
        diskEncryptionSetName="disks",
        identity={"type": "SystemAssigned"},
        activeKey={
            "keyUrl": "https://keys.vault.azure.net/keys/disks/1",
            "sourceVault": {"id": f"{GROUP_ID}/providers/Microsoft.KeyVault/vaults/keys"},
        },
    ),
    "storage:StorageAccount": ml(accountName="mlcheckpoints", kind="StorageV2", sku={"name": "Standard_ZRS"}),
    "storage:BlobServiceProperties": ml(
        accountName="mlcheckpoints", blobServicesName="default", deleteRetentionPolicy={"enabled": True, "days": 14}
    ),
    "storage:BlobContainer": ml(accountName="mlcheckpoints", containerName="checkpoints"),
    "storage:ManagementPolicy": ml(
        accountName="mlcheckpoints",
        managementPolicyName="default",
        policy={
            "rules": [
                {
                    "name": "expire",
                    "type": "Lifecycle",
                    "definition": {
                        "actions": {"baseBlob": {"delete": {"daysAfterModificationGreaterThan": 90}}},
                        "filters": {"blobTypes": ["blockBlob"], "prefixMatch": ["checkpoints/"]},
                    },
                }
            ]
        },
    ),
    "authorization:RoleDefinition": {
        "roleDefinitionId": "11111111-1111-4111-8111-111111111112",
        "roleName": "blobs",
        "scope": GROUP_ID,
        "assignableScopes": [GROUP_ID],
        "permissions": [{"dataActions": ["Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read"]}],
    },
    "operationalinsights:Workspace": ml(workspaceName="logs"),
    "monitor:AzureMonitorWorkspace": ml(azureMonitorWorkspaceName="metrics"),
    "alertsmanagement:PrometheusRuleGroup": ml(
        ruleGroupName="alerts",
        clusterName="aks",
        scopes=[f"{GROUP_ID}/providers/Microsoft.Monitor/accounts/metrics"],
        rules=[{"record": "a:b:sum", "expression": "sum(c)"}],
    ),
    "monitor:DataCollectionEndpoint": ml(
        dataCollectionEndpointName="intake", networkAcls={"publicNetworkAccess": "Enabled"}
    ),
    "monitor:DataCollectionRule": ml(
        dataCollectionRuleName="logs",
        kind="Linux",
        dataCollectionEndpointId=f"{INSIGHTS_ID}/dataCollectionEndpoints/intake",
        dataSources={
            "extensions": [
                {
                    "name": "ContainerInsightsExtension",
                    "extensionName": "ContainerInsights",
                    "streams": ["Microsoft-ContainerInsights-Group-Default"],
                    "extensionSettings": {"dataCollectionSettings": {"interval": "1m", "enableContainerLogV2": True}},
                }
            ]
        },
        destinations={"logAnalytics": [{"name": "workspace", "workspaceResourceId": WORKSPACE_ID}]},
        dataFlows=[{"streams": ["Microsoft-ContainerInsights-Group-Default"], "destinations": ["workspace"]}],
    ),
    "monitor:DataCollectionRuleAssociation": {
        "resourceUri": CLUSTER_ID,
        "associationName": "ContainerInsightsExtension",
        "dataCollectionRuleId": f"{INSIGHTS_ID}/dataCollectionRules/logs",
    },
    "monitor:DiagnosticSetting": {
        "resourceUri": CLUSTER_ID,
        "name": "control-plane",
        "workspaceId": WORKSPACE_ID,
        "logs": [{"category": "kube-audit-admin", "enabled": True}, {"category": "guard", "enabled": True}],
    },
}


@pytest.fixture
def resources(account: Account) -> dict[str, Resource]:
    """Return one resource of every type, by type."""
    return {name: account.create(f"azure-native:{name}", inputs) for name, inputs in REQUESTS.items()}


def test_every_emulated_type_has_a_request_here() -> None:
    assert {f"azure-native:{name}" for name in REQUESTS} == TYPES.keys()


def test_reading_back_and_declaring_again_change_nothing(account: Account, resources: dict[str, Resource]) -> None:
    # A cluster read back shows its standalone pools as well (test_bodies).
    for name in REQUESTS.keys() - {"containerservice:ManagedCluster"}:
        # Read after all of them are made: what one resource shows of another must not be a difference either.
        again = account.refresh(resources[name])
        assert again.old_inputs == resources[name].old_inputs, name
        assert account.diff(again, REQUESTS[name]).changes == {}, name
        updated = account.update(again, REQUESTS[name])
        assert account.refresh(updated).old_inputs == resources[name].old_inputs, name
        # A deployment is another one each time (test_deployments).
        assert updated.old_outputs == again.old_outputs or name == "resources:Deployment", name


def test_import_gives_the_inputs(account: Account, resources: dict[str, Resource]) -> None:
    for name, resource in resources.items():
        imported = account.provider.read(Resource(resource.type, "it", "urn", resource.id))
        assert imported is not None
        # Names that are in the id alone are among them.
        plain = {n: value for n, value in REQUESTS[name].items() if isinstance(value, str | int)}
        plain |= {n: resource.old_inputs[n] for n in TYPES[resource.type].parameters}
        # An import leaves the first slash of such an id out (azure-native issue 4683).
        plain |= {n: plain[n].removeprefix("/") for n in ("scope", "resourceUri") if n in plain}
        assert {n: imported[0][n] for n in plain} == plain, name
        assert imported[0].keys() <= azure_schema.STORED.inputs_of(resource.type).shapes.keys(), name


def test_unknown_property_is_refused(account: Account) -> None:
    for name, inputs in REQUESTS.items():
        with pytest.raises(CheckFailed, match="unknown property 'colour'"):
            account.check(f"azure-native:{name}", {**inputs, "colour": "blue"})


def test_nothing_is_created_in_a_missing_group(account: Account) -> None:
    for name in REQUESTS.keys() - {"resources:ResourceGroup"}:
        assert refusal(account.create, f"azure-native:{name}", REQUESTS[name]).code == "ResourceGroupNotFound", name


PARENTS = {
    "network:Subnet": "virtualNetworkName",
    "managedidentity:FederatedIdentityCredential": "resourceName",
    "containerservice:AgentPool": "resourceName",
    "containerservice:MaintenanceConfiguration": "resourceName",
    "storage:BlobContainer": "accountName",
}


@pytest.mark.parametrize("name", PARENTS)
def test_nothing_is_created_in_a_missing_parent(account: Account, resources: dict[str, Resource], name: str) -> None:
    elsewhere = {**REQUESTS[name], PARENTS[name]: "missing"}
    assert refusal(account.create, f"azure-native:{name}", elsewhere).code == "ParentResourceNotFound"


NAMES = [
    ("network:PublicIPAddress", ["-egress", "egress-", "a/b", "a" * 81], "a-b.c_"),
    ("network:NatGateway", ["-egress", "egress-", "a/b", "a" * 81], "a-b.c_"),
    ("network:RouteTable", ["-egress", "egress-", "a/b", "a" * 81], "a-b.c_"),
    ("containerservice:ManagedCluster", ["-aks", "aks-", "a.b", "a" * 64], "a" * 63),
    ("containerservice:AgentPool", ["gpu-spot", "GPU", "1gpu", "thirteenchars", ""], "twelvechars1"),
    ("containerregistry:Registry", ["abcd", "a" * 51, "ml-images"], "abcde"),
    ("keyvault:Vault", ["ab", "a" * 25, "a_b"], "a" * 24),
    ("compute:DiskEncryptionSet", ["disks.1"], "disks-1"),
    ("operationalinsights:Workspace", ["abc", "a" * 64, "-abc", "a_bc"], "abcd"),
    ("monitor:DataCollectionEndpoint", ["ab", "a" * 45, "-ab"], "a" * 44),
    ("monitor:AzureMonitorWorkspace", ["-a", "a-", "a_b"], "a-b"),
    ("alertsmanagement:PrometheusRuleGroup", ["a/b", "a#b", "50%"], "a b-c"),
]


@pytest.mark.parametrize(("name", "bad", "good"), NAMES)
def test_names_have_the_form_of_their_type(account: Account, name: str, bad: list[str], good: str) -> None:
    token, parameter = f"azure-native:{name}", TYPES[f"azure-native:{name}"].parameters[-1]
    for wrong in bad:
        with pytest.raises(CheckFailed, match=f"'{parameter}' (does not match|is too (long|short))"):
            account.check(token, {**REQUESTS[name], parameter: wrong})
    account.check(token, {**REQUESTS[name], parameter: good})


def test_preview_shows_the_inputs_and_nothing_else(account: Account) -> None:
    for name, inputs in REQUESTS.items():
        token = f"azure-native:{name}"
        _, shown = account.provider.create(
            Resource(token, "it", "urn", inputs=account.check(token, inputs), preview=True)
        )
        sent = {k: v for k, v in inputs.items() if isinstance(v, str) and k in shown}
        assert {k: shown[k] for k in sent} == sent, name
        assert shown["type"] == UNKNOWN or name == "containerservice:AgentPool"


def test_group_takes_all_of_them_with_it(account: Account, resources: dict[str, Resource]) -> None:
    account.provider.delete(resources["resources:ResourceGroup"])
    assert account.runtime.calls[-1] == ("stop", azure_ids.key(CLUSTER_ID))
    assert [name for name, resource in resources.items() if account.provider.read(resource) is not None] == []
    # What is gone is no error.
    account.provider.delete(resources["containerservice:ManagedCluster"])


def test_everything_can_be_deleted_in_the_opposite_order(account: Account, resources: dict[str, Resource]) -> None:
    for resource in reversed(resources.values()):
        account.provider.delete(resource)
        assert account.provider.read(resource) is None


@pytest.mark.process
def test_the_kept_shapes_are_those_of_the_installed_sdk() -> None:
    """Imports the SDK, which takes seconds. `python -m sandbox.azure.azure_schema` writes them again."""
    assert azure_schema.STORED.file.read_text(encoding="utf-8") == azure_schema.written_from_the_sdk()


def test_every_emulated_type_has_its_shapes_and_the_version_of_its_api() -> None:
    assert {
        token
        for token in TYPES
        if not azure_schema.STORED.outputs_of(token).shapes or not azure_schema.STORED.version_of(token)
    } == set()
