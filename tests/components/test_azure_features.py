"""What each setting of `cloud` declares; the emulated Azure takes every one of these stacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pulumi
import pytest

from tests.components.emulated import EmulatedAzure
from tests.components.program import KUBELET, LIVE_KUBELET, Declared, declare, running

pytestmark = pytest.mark.program

Settings = dict[str, Any]

ROLE_ASSIGNMENT = "azure-native:authorization:RoleAssignment"
NETWORK_CONTRIBUTOR = "4d97b98b-1d4f-4787-a291-c67834d212e7"
ID = "/subscriptions/11111111-1111-4111-8111-111111111111/resourceGroups/shared/providers"
GUID = "22222222-2222-4222-8222-222222222222"


def plain(cloud: Settings, **changes: Settings) -> Settings:
    """A stack of a system pool and one user pool."""
    return {
        "kubeflow-spot:release": "r2026-11",
        "kubeflow-spot:cluster": {"name": "lab", **changes.get("cluster", {})},
        "kubeflow-spot:cloud": {"provider": "azure", "location": "westeurope", **cloud},
        "kubeflow-spot:systemPool": {"machine": "Standard_D4ds_v5", "maxNodes": 3, **changes.get("systemPool", {})},
        "kubeflow-spot:pools": [
            {"name": "general", "machine": "Standard_D8ds_v5", "maxNodes": 2, **changes.get("pool", {})}
        ],
    }


class Azure:
    """Runs the program with such a stack on an emulated Azure that has what it names."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._path, self._monkeypatch = tmp_path / "azure.json", monkeypatch
        self.cloud: EmulatedAzure

    def __call__(self, cloud: Settings, **changes: Settings) -> Declared:
        settings = plain(cloud, **changes)
        self.cloud = EmulatedAzure(self._path, "westeurope")
        self.cloud.seed(settings)
        return declare(settings, self._monkeypatch, cloud=self.cloud)


@pytest.fixture
def azure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Azure:
    return Azure(tmp_path, monkeypatch)


def one(declared: Declared, type: str) -> Settings:
    """The inputs of the only resource of a type."""
    (found,) = declared.of(f"azure-native:{type}").values()
    return found.inputs


def named(declared: Declared, type: str) -> dict[str, Settings]:
    return {name: resource.inputs for name, resource in declared.of(f"azure-native:{type}").items()}


def cluster(declared: Declared) -> Settings:
    return one(declared, "containerservice:ManagedCluster")


def grants(declared: Declared) -> set[tuple[str, str]]:
    """Role and scope of every assignment."""
    found = named(declared, "authorization:RoleAssignment").values()
    return {(grant["roleDefinitionId"].rpartition("/")[2], grant["scope"]) for grant in found}


def test_of_an_existing_group_and_network_nothing_is_declared(azure: Azure) -> None:
    there = {"resourceGroup": "net-rg", "name": "corp", "subnet": "nodes"}
    declared = azure(
        {"existingResourceGroup": "ml-rg", "network": {"existing": there}}, pool={"subnet": "gpu"}, systemPool={}
    )
    for type in ("resources:ResourceGroup", "network:VirtualNetwork", "network:Subnet"):
        assert named(declared, type) == {}
    group = f"/subscriptions/{_subscription(azure)}/resourceGroups/net-rg"
    subnets = f"{group}/providers/Microsoft.Network/virtualNetworks/corp/subnets"
    assert cluster(declared)["resourceGroupName"] == "ml-rg"
    assert cluster(declared)["agentPoolProfiles"][0]["vnetSubnetID"] == f"{subnets}/nodes"
    assert one(declared, "containerservice:AgentPool")["vnetSubnetID"] == f"{subnets}/gpu"
    assert grants(declared) == {(NETWORK_CONTRIBUTOR, f"{subnets}/nodes"), (NETWORK_CONTRIBUTOR, f"{subnets}/gpu")}


def _subscription(azure: Azure) -> str:
    return str(azure.cloud.provider.invoke("azure-native:authorization:getClientConfig", {})["subscriptionId"])


def test_the_identity_may_use_the_subnets_that_pools_use_and_the_cluster_waits_for_that(azure: Azure) -> None:
    subnets = {"gpu": "10.8.32.0/20", "spare": "10.8.64.0/20"}
    declared = azure({"network": {"subnets": subnets}}, pool={"subnet": "gpu"}, systemPool={"subnet": "nodes"})
    assert {name: s["addressPrefix"] for name, s in named(declared, "network:Subnet").items()} == {
        "lab-nodes": "10.8.0.0/20",
        "lab-gpu": "10.8.32.0/20",
        "lab-spare": "10.8.64.0/20",
    }
    assert {scope.rpartition("/")[2] for _, scope in grants(declared)} == {"nodes", "gpu"}
    (found,) = declared.of("azure-native:containerservice:ManagedCluster").values()
    waits = {urn.rpartition("::")[2] for urn in found.options["dependencies"]}
    assert {"lab-network", "lab-network-gpu"} <= waits


def test_a_nat_gateway_is_on_every_subnet_of_a_new_network(azure: Azure) -> None:
    declared = azure(
        {"network": {"outboundType": "userAssignedNATGateway", "subnets": {"gpu": "10.8.32.0/20"}}},
        pool={"subnet": "gpu"},
    )
    gateway = one(declared, "network:NatGateway")
    assert gateway["publicIpAddresses"][0]["id"].endswith("/publicIPAddresses/lab-nat")
    assert one(declared, "network:PublicIPAddress")["sku"] == {"name": "Standard"}
    for subnet in named(declared, "network:Subnet").values():
        assert subnet["natGateway"]["id"].endswith("/natGateways/lab")
    assert cluster(declared)["networkProfile"]["outboundType"] == "userAssignedNATGateway"


def test_a_plain_cluster_sends_what_can_be_switched_off_and_no_fixed_default(azure: Azure) -> None:
    declared = azure({})
    sent = cluster(declared)
    assert sent["apiServerAccessProfile"] == {"authorizedIPRanges": [], "disableRunCommand": False}
    assert sent["disableLocalAccounts"] is False
    assert sent["autoUpgradeProfile"] == {"upgradeChannel": "none", "nodeOSUpgradeChannel": "NodeImage"}
    assert sent["addonProfiles"] == {"omsagent": {"enabled": False}}
    assert sent["azureMonitorProfile"] == {"metrics": {"enabled": False}}
    assert {"aadProfile", "linuxProfile", "diskEncryptionSetID"} & sent.keys() == set()
    assert {"networkDataplane", "networkPolicy", "outboundType"} & sent["networkProfile"].keys() == set()
    assert not {"monitor", "operationalinsights"} & {r.type.split(":")[1] for r in declared.resources}


def test_network_choices_reach_the_cluster(azure: Azure) -> None:
    profile = cluster(azure({"network": {"dataplane": "cilium", "policy": "cilium"}}))["networkProfile"]
    assert (profile["networkDataplane"], profile["networkPolicy"]) == ("cilium", "cilium")


def test_entra_logins_without_local_accounts_and_a_kubeconfig_for_kubelogin(azure: Azure) -> None:
    declared = azure(
        {
            "access": {
                "authorizedRanges": ["20.61.10.0/28"],
                "adminGroups": [GUID],
                "azureRbac": True,
                "localAccounts": False,
                "runCommand": False,
            }
        }
    )
    sent = cluster(declared)
    assert sent["aadProfile"] == {"managed": True, "enableAzureRBAC": True, "adminGroupObjectIDs": [GUID]}
    assert sent["disableLocalAccounts"] is True
    assert sent["apiServerAccessProfile"] == {"authorizedIPRanges": ["20.61.10.0/28"], "disableRunCommand": True}
    (credentials,) = (args for token, args in azure.cloud.calls if token.endswith("UserCredentials"))
    assert credentials["format"] == "exec"
    assert declared.secret == {"kubeconfig"}


def test_a_private_cluster_may_link_its_zone_to_the_network(azure: Azure) -> None:
    zone = f"{ID}/Microsoft.Network/privateDnsZones/privatelink.westeurope.azmk8s.io"
    declared = azure({"access": {"private": True, "privateDnsZone": zone}})
    access = cluster(declared)["apiServerAccessProfile"]
    assert access == {"enablePrivateCluster": True, "privateDNSZone": zone, "disableRunCommand": False}
    assert {scope for _, scope in grants(declared)} == {
        zone,
        cluster(declared)["agentPoolProfiles"][0]["vnetSubnetID"].rpartition("/subnets/")[0],
    }


@pytest.mark.parametrize("zone", ["system", "none"])
def test_a_private_cluster_without_a_zone_of_its_own_has_no_right_at_one(azure: Azure, zone: str) -> None:
    declared = azure({"access": {"private": True, "privateDnsZone": zone}})
    ((role, scope),) = grants(declared)
    assert role == NETWORK_CONTRIBUTOR
    # Without a zone there is nothing to link, and the nodes' subnet is enough.
    assert ("/subnets/" in scope) == (zone == "none")


def test_upgrade_channels_and_their_windows(azure: Azure) -> None:
    declared = azure(
        {
            "upgrades": {
                "channel": "patch",
                "nodeOsChannel": "SecurityPatch",
                "clusterWindow": {"day": "Sunday", "startTime": "02:00", "durationHours": 6, "everyWeeks": 2},
                "nodeOsWindow": {"day": "Saturday", "startTime": "22:30", "utcOffset": "+01:00"},
            }
        }
    )
    assert cluster(declared)["autoUpgradeProfile"] == {
        "upgradeChannel": "patch",
        "nodeOSUpgradeChannel": "SecurityPatch",
    }
    windows = {
        window["configName"]: window["maintenanceWindow"]
        for window in named(declared, "containerservice:MaintenanceConfiguration").values()
    }
    assert windows == {
        "aksManagedAutoUpgradeSchedule": {
            "schedule": {"weekly": {"dayOfWeek": "Sunday", "intervalWeeks": 2}},
            "startTime": "02:00",
            "utcOffset": "+00:00",
            "durationHours": 6,
        },
        "aksManagedNodeOSUpgradeSchedule": {
            "schedule": {"weekly": {"dayOfWeek": "Saturday", "intervalWeeks": 1}},
            "startTime": "22:30",
            "utcOffset": "+01:00",
            "durationHours": 4,
        },
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
    assert one(declared, "containerservice:AgentPool")["enableEncryptionAtHost"] is True
    assert sent["diskEncryptionSetID"] == disks
    # With a public vault AKS wants no keyVaultResourceId.
    kms = {"enabled": True, "keyId": key, "keyVaultNetworkAccess": "Public"}
    assert sent["securityProfile"] == {"workloadIdentity": {"enabled": True}, "azureKeyVaultKms": kms}
    assert {
        ("acdd72a7-3385-48ef-bd42-f606fba81ae7", disks),
        ("12338af0-0e69-4776-bea7-57ae8d297424", vault),
    } < grants(declared)
    # A role is defined in the subscription of what it is about.
    roles = {g["scope"]: g["roleDefinitionId"] for g in named(declared, "authorization:RoleAssignment").values()}
    assert roles[vault].startswith("/subscriptions/11111111-")


def test_new_workspaces_keep_logs_and_metrics(azure: Azure) -> None:
    declared = azure(
        {"monitoring": {"logs": {"retentionDays": 90, "controlPlane": ["kube-audit-admin", "guard"]}, "metrics": {}}}
    )
    workspace = one(declared, "operationalinsights:Workspace")
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

    setting = one(declared, "monitor:DiagnosticSetting")
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
    assert one(declared, "monitor:DataCollectionEndpoint")["dataCollectionEndpointName"] == "m" * 35 + "-metrics"


def test_the_kubelets_of_the_cluster_may_pull_from_the_registry(azure: Azure) -> None:
    registry = f"{ID}/Microsoft.ContainerRegistry/registries/images"
    declared = azure({"registry": {"id": registry}})
    (pull,) = (g for g in named(declared, "authorization:RoleAssignment").values() if g["scope"] == registry)
    assert pull["roleDefinitionId"].endswith("/7f951dda-4ed3-4680-a7ca-43fe172d538d")
    assert pull["principalId"] == azure.cloud.kubelet("lab")


def test_a_preview_of_a_cluster_that_is_there_does_not_show_the_right_to_pull_as_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = plain({"registry": {"id": f"{ID}/Microsoft.ContainerRegistry/registries/images"}})
    there = running(declare(settings, monkeypatch))
    pulls = {
        preview: declare(settings, monkeypatch, live=there, preview=preview).of(ROLE_ASSIGNMENT)["lab-pull"]
        for preview in (True, False)
    }
    # The outputs of a cluster that is updated are unknown in a preview; its GET says what they are.
    assert {preview: pull.inputs["principalId"] for preview, pull in pulls.items()} == {
        True: LIVE_KUBELET,
        False: KUBELET,
    }
    # But the identity goes with the cluster.
    pull = pulls[True]
    assert [urn.rpartition("::")[2] for urn in pull.options["replaceWith"]] == ["lab"]


def test_two_stacks_of_one_name_may_pull_from_one_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = set()
    for group in ("one", "two"):
        cloud = EmulatedAzure(tmp_path / group, "westeurope")
        settings = plain(
            {"resourceGroup": group, "registry": {"id": f"{ID}/Microsoft.ContainerRegistry/registries/images"}}
        )
        cloud.seed(settings)
        pull = declare(settings, monkeypatch, cloud=cloud).of(ROLE_ASSIGNMENT)["lab-pull"]
        names.add(pull.inputs["roleAssignmentName"])
        # One that an earlier version of the program has named otherwise is not made anew.
        assert "roleAssignmentName" in pull.options["ignoreChanges"]
    assert len(names) == 2


@pytest.mark.parametrize(
    ("policy", "sent", "told"), [(None, None, True), ("none", None, False), ("calico", "calico", False)]
)
def test_who_enforces_network_policies_is_asked_until_the_file_says(
    policy: str | None, sent: str | None, told: bool, azure: Azure, monkeypatch: pytest.MonkeyPatch
) -> None:
    warned: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warned.append)
    declared = azure({"network": {"policy": policy}} if policy else {})
    assert cluster(declared)["networkProfile"].get("networkPolicy") == sent
    assert any("cloud.network.policy: is unset" in text for text in warned) is told


def test_tier_support_login_and_tags(azure: Azure) -> None:
    declared = azure(
        {"tier": "Premium", "longTermSupport": True, "ssh": {"publicKey": "ssh-ed25519 AAAAC3Nz kim"}},
        cluster={"tags": {"team": "ml"}},
    )
    sent = cluster(declared)
    assert sent["sku"] == {"name": "Base", "tier": "Premium"}
    assert sent["supportPlan"] == "AKSLongTermSupport"
    login = {"adminUsername": "azureuser", "ssh": {"publicKeys": [{"keyData": "ssh-ed25519 AAAAC3Nz kim"}]}}
    assert sent["linuxProfile"] == login
    untagged = {r.type for r in declared.resources if r.type.startswith("azure-native:") and "tags" not in r.inputs}
    # The first two have none in Azure. A deployment whose tag changes would send its old template.
    assert untagged == {
        "azure-native:authorization:RoleAssignment",
        "azure-native:network:Subnet",
        "azure-native:resources:Deployment",
    }
