"""A new AKS cluster, setting by setting of `cloud`; the emulated Azure accepts each of these stacks."""

from __future__ import annotations

import pytest

from tests.components.features import GUID, ID, Azure, cluster, grants, inputs_of, named

pytestmark = pytest.mark.program


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
    assert inputs_of(declared, "containerservice:AgentPool")["enableEncryptionAtHost"] is True
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


def test_tier_support_login_and_tags(azure: Azure) -> None:
    declared = azure(
        {
            "tier": "Premium",
            "longTermSupport": True,
            "ssh": {
                "publicKey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIUdLiferxCbbskouGVZQY/ELHjuAdXpjo1/s5u2Qeck kim"
            },
        },
        cluster={"tags": {"team": "ml"}},
    )
    sent = cluster(declared)
    assert sent["sku"] == {"name": "Base", "tier": "Premium"}
    assert sent["supportPlan"] == "AKSLongTermSupport"
    login = {
        "adminUsername": "azureuser",
        "ssh": {
            "publicKeys": [
                {"keyData": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIUdLiferxCbbskouGVZQY/ELHjuAdXpjo1/s5u2Qeck kim"}
            ]
        },
    }
    assert sent["linuxProfile"] == login
    untagged = {r.type for r in declared.resources if r.type.startswith("azure-native:") and "tags" not in r.inputs}
    # The first two have none in Azure. A deployment whose tag changes would send its old template.
    assert untagged == {
        "azure-native:authorization:RoleAssignment",
        "azure-native:network:Subnet",
        "azure-native:resources:Deployment",
    }
