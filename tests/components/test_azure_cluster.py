"""A new AKS cluster, its network and its monitoring, setting by setting; the emulated Azure accepts each of these stacks."""

from typing import Any

import pytest

from sandbox.azure import azure_ids
from tests.components.features import (
    FULL,
    GUID,
    ID,
    NETWORK_CONTRIBUTOR,
    Azure,
    cluster,
    grants,
    inputs_of,
    named,
)

pytestmark = pytest.mark.program


def test_a_plain_cluster_sends_what_can_be_switched_off_and_no_fixed_default(azure: Azure) -> None:
    declared = azure({})
    sent = cluster(declared)
    assert sent["apiServerAccessProfile"] == {"authorizedIPRanges": [], "disableRunCommand": False}
    assert sent["disableLocalAccounts"] is False
    assert sent["autoUpgradeProfile"] == {"upgradeChannel": "none", "nodeOSUpgradeChannel": "NodeImage"}
    assert sent["addonProfiles"] == {"omsagent": {"enabled": False}}
    assert sent["azureMonitorProfile"] == {"metrics": {"enabled": False}}
    assert "storageProfile" not in sent
    assert {"aadProfile", "linuxProfile", "diskEncryptionSetID"} & sent.keys() == set()
    assert {"networkDataplane", "networkPolicy", "outboundType"} & sent["networkProfile"].keys() == set()
    assert not {"monitor", "operationalinsights"} & {r.type.split(":")[1] for r in declared.resources}


def test_a_storage_driver_that_is_set_sends_them_all(azure: Azure) -> None:
    on, off = {"enabled": True}, {"enabled": False}
    assert cluster(azure({"storageDrivers": {"blob": True, "snapshots": False}}))["storageProfile"] == {
        "blobCSIDriver": on,
        "diskCSIDriver": on,
        "fileCSIDriver": on,
        "snapshotController": off,
    }


def test_entra_logins_without_local_accounts_and_a_kubeconfig_for_kubelogin(azure: Azure) -> None:
    access = {"adminGroups": [GUID], "azureRbac": True, "localAccounts": False, "runCommand": False}
    declared = azure({"access": {**access, "authorizedRanges": ["20.61.10.0/28"]}})
    sent = cluster(declared)
    assert sent["aadProfile"] == {"managed": True, "enableAzureRBAC": True, "adminGroupObjectIDs": [GUID]}
    assert sent["disableLocalAccounts"] is True
    assert sent["apiServerAccessProfile"] == {"authorizedIPRanges": ["20.61.10.0/28"], "disableRunCommand": True}
    (credentials,) = (args for token, args in azure.cloud.calls if token.endswith("UserCredentials"))
    assert credentials["format"] == "exec"
    assert declared.secret == {"kubeconfig"}


def test_upgrade_channels_and_their_windows(azure: Azure) -> None:
    declared = azure({"upgrades": FULL["kubeflow-spot:cloud"]["upgrades"]})
    channels = {"upgradeChannel": "patch", "nodeOSUpgradeChannel": "SecurityPatch"}
    assert cluster(declared)["autoUpgradeProfile"] == channels
    configurations = named(declared, "containerservice:MaintenanceConfiguration").values()
    windows = {each["configName"]: each["maintenanceWindow"] for each in configurations}

    def window(day: str, weeks: int, **times: Any) -> dict[str, Any]:
        return {"schedule": {"weekly": {"dayOfWeek": day, "intervalWeeks": weeks}}, **times}

    assert windows == {
        "aksManagedAutoUpgradeSchedule": window("Sunday", 2, startTime="02:00", utcOffset="+00:00", durationHours=6),
        "aksManagedNodeOSUpgradeSchedule": window(
            "Saturday", 1, startTime="22:30", utcOffset="+01:00", durationHours=4
        ),
    }


def test_encryption_reaches_every_pool_and_the_identity_may_read_the_keys(azure: Azure) -> None:
    disks = f"{ID}/Microsoft.Compute/diskEncryptionSets/disks"
    vault = f"{ID}/Microsoft.KeyVault/vaults/keys"
    key = "https://keys.vault.azure.net/keys/etcd/0123456789"
    declared = azure(
        {"encryption": {"atHost": True, "diskEncryptionSet": disks, "kms": {"keyId": key, "vaultId": vault}}}
    )
    sent = cluster(declared)
    assert sent["agentPoolProfiles"][0]["enableEncryptionAtHost"] is True
    assert inputs_of(declared, "containerservice:AgentPool")["enableEncryptionAtHost"] is True
    assert sent["diskEncryptionSetID"] == disks
    # With a public vault AKS wants no keyVaultResourceId.
    kms = {"enabled": True, "keyId": key, "keyVaultNetworkAccess": "Public"}
    assert sent["securityProfile"] == {"workloadIdentity": {"enabled": True}, "azureKeyVaultKms": kms}
    assert {("acdd72a7-3385-48ef-bd42-f606fba81ae7", disks), ("12338af0-0e69-4776-bea7-57ae8d297424", vault)} < grants(
        declared
    )
    # A role is defined in the subscription of what it is about.
    roles = {g["scope"]: g["roleDefinitionId"] for g in named(declared, "authorization:RoleAssignment").values()}
    assert roles[vault].startswith("/subscriptions/11111111-")


def test_tier_support_login_and_tags(azure: Azure) -> None:
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIUdLiferxCbbskouGVZQY/ELHjuAdXpjo1/s5u2Qeck kim"
    cloud = {"tier": "Premium", "longTermSupport": True, "ssh": {"publicKey": key}}
    declared = azure(cloud, cluster={"tags": {"team": "ml"}})
    sent = cluster(declared)
    assert sent["sku"] == {"name": "Base", "tier": "Premium"}
    assert sent["supportPlan"] == "AKSLongTermSupport"
    assert sent["linuxProfile"] == {"adminUsername": "azureuser", "ssh": {"publicKeys": [{"keyData": key}]}}
    untagged = {r.type for r in declared.resources if r.type.startswith("azure-native:") and "tags" not in r.inputs}
    # The first two have none in Azure. A deployment whose tag changes would send its old template.
    assert untagged == {
        "azure-native:authorization:RoleAssignment",
        "azure-native:network:Subnet",
        "azure-native:resources:Deployment",
    }


def test_new_workspaces_keep_logs_and_metrics(azure: Azure) -> None:
    declared = azure(
        {"monitoring": {"logs": {"retentionDays": 90, "controlPlane": ["kube-audit-admin", "guard"]}, "metrics": {}}}
    )
    workspace = inputs_of(declared, "operationalinsights:Workspace")
    assert (workspace["workspaceName"], workspace["retentionInDays"]) == ("lab-logs", 90)
    sent = cluster(declared)
    agent = sent["addonProfiles"]["omsagent"]
    assert (agent["enabled"], agent["config"]["useAADAuth"]) == (True, "true")
    assert sent["azureMonitorProfile"]["metrics"]["enabled"] is True

    rules = named(declared, "monitor:DataCollectionRule")
    (source,) = rules["lab-logs"]["dataSources"]["extensions"]
    assert "Microsoft-ContainerLogV2" in source["streams"]
    (kept_in,) = rules["lab-logs"]["destinations"]["logAnalytics"]
    assert kept_in["workspaceResourceId"] == agent["config"]["logAnalyticsWorkspaceResourceID"]
    (source,) = rules["lab-metrics"]["dataSources"]["prometheusForwarder"]
    assert source["streams"] == ["Microsoft-PrometheusMetrics"]
    associations = named(declared, "monitor:DataCollectionRuleAssociation")
    assert associations["lab-logs"]["associationName"] == "ContainerInsightsExtension"
    assert {a["dataCollectionRuleId"].rpartition("/")[2] for a in associations.values()} == {"lab-logs", "lab-metrics"}
    assert {a["resourceUri"].rpartition("/")[2] for a in associations.values()} == {"lab"}

    setting = inputs_of(declared, "monitor:DiagnosticSetting")
    assert [log["category"] for log in setting["logs"] if log["enabled"]] == ["guard", "kube-audit-admin"]
    assert setting["workspaceId"] == kept_in["workspaceResourceId"]


def test_existing_workspaces_are_used_and_not_made(azure: Azure) -> None:
    logs = f"{ID}/Microsoft.OperationalInsights/workspaces/logs"
    metrics = f"{ID}/Microsoft.Monitor/accounts/metrics"
    declared = azure(
        {"monitoring": {"logs": {"workspace": logs, "controlPlane": []}, "metrics": {"workspace": metrics}}}
    )
    for type in ("operationalinsights:Workspace", "monitor:AzureMonitorWorkspace", "monitor:DiagnosticSetting"):
        assert named(declared, type) == {}
    rules = named(declared, "monitor:DataCollectionRule")
    assert rules["lab-logs"]["destinations"]["logAnalytics"][0]["workspaceResourceId"] == logs
    assert rules["lab-metrics"]["destinations"]["monitoringAccounts"][0]["accountResourceId"] == metrics


def test_names_of_what_monitors_a_cluster_with_a_long_name_fit(azure: Azure) -> None:
    declared = azure({"resourceGroup": "g", "monitoring": {"metrics": {}}}, cluster={"name": "m" * 35 + "-" + "l" * 8})
    assert inputs_of(declared, "monitor:DataCollectionEndpoint")["dataCollectionEndpointName"] == "m" * 35 + "-metrics"


def test_of_an_existing_group_and_network_nothing_is_declared(azure: Azure) -> None:
    network = {"resourceGroup": "net-rg", "name": "corp", "subnet": "nodes"}
    declared = azure(
        {"existingResourceGroup": "ml-rg", "network": {"existing": network}}, pool={"subnet": "gpu"}, systemPool={}
    )
    for type in ("resources:ResourceGroup", "network:VirtualNetwork", "network:Subnet"):
        assert named(declared, type) == {}
    group = f"/subscriptions/{azure_ids.SUBSCRIPTION}/resourceGroups/net-rg"
    subnets = f"{group}/providers/Microsoft.Network/virtualNetworks/corp/subnets"
    assert cluster(declared)["resourceGroupName"] == "ml-rg"
    assert cluster(declared)["agentPoolProfiles"][0]["vnetSubnetID"] == f"{subnets}/nodes"
    assert inputs_of(declared, "containerservice:AgentPool")["vnetSubnetID"] == f"{subnets}/gpu"
    assert grants(declared) == {(NETWORK_CONTRIBUTOR, f"{subnets}/nodes"), (NETWORK_CONTRIBUTOR, f"{subnets}/gpu")}


def test_a_nat_gateway_is_on_every_subnet_of_a_new_network(azure: Azure) -> None:
    declared = azure(
        {"network": {"outboundType": "userAssignedNATGateway", "subnets": {"gpu": "10.8.32.0/20"}}},
        pool={"subnet": "gpu"},
    )
    gateway = inputs_of(declared, "network:NatGateway")
    assert gateway["publicIpAddresses"][0]["id"].endswith("/publicIPAddresses/lab-nat")
    assert inputs_of(declared, "network:PublicIPAddress")["sku"] == {"name": "Standard"}
    for subnet in named(declared, "network:Subnet").values():
        assert subnet["natGateway"]["id"].endswith("/natGateways/lab")
    assert cluster(declared)["networkProfile"]["outboundType"] == "userAssignedNATGateway"


def test_network_choices_reach_the_cluster(azure: Azure) -> None:
    profile = cluster(azure({"network": {"dataplane": "cilium", "policy": "cilium"}}))["networkProfile"]
    assert (profile["networkDataplane"], profile["networkPolicy"]) == ("cilium", "cilium")


@pytest.mark.parametrize(
    ("policy", "sent", "warns"), [(None, None, True), ("none", None, False), ("calico", "calico", False)]
)
def test_who_enforces_network_policies_is_asked_until_the_file_says(
    policy: str | None, sent: str | None, warns: bool, azure: Azure, warnings: list[str]
) -> None:
    declared = azure({"network": {"policy": policy}} if policy else {})
    assert cluster(declared)["networkProfile"].get("networkPolicy") == sent
    assert any("cloud.network.policy: is unset" in text for text in warnings) is warns
