"""Additions of the service to a request, and what an update keeps; reading a resource back changes nothing."""

from typing import Any

import pytest

from sandbox.azure import azure_ids
from sandbox.azure.resources.cluster_pools_rules import too_far_apart

from .conftest import AUTOSCALED, CLUSTER, CLUSTER_INPUTS, IDENTITY, POOL, REGULAR, SPOT, SYSTEM, Account, ml


def test_cluster_gets_the_documented_defaults(ready: Account) -> None:
    body = ready.cluster(resourceName="two", oidcIssuerProfile={"enabled": True}).old_outputs
    expected = {
        "nodeResourceGroup": "MC_ml_two_westeurope",
        "kubernetesVersion": "1.35",
        "currentKubernetesVersion": "1.35.5",
        "enableRBAC": True,
        "supportPlan": "KubernetesOfficial",
        "disableLocalAccounts": False,
        "maxAgentPools": 100,
        "sku": {"name": "Base", "tier": "Free"},
        "powerState": {"code": "Running"},
        "provisioningState": "Succeeded",
        "autoUpgradeProfile": {"nodeOSUpgradeChannel": "NodeImage"},
        "azureApiVersion": "2025-09-01",
    }
    assert {name: body[name] for name in expected} == expected
    network = {k: v for k, v in body["networkProfile"].items() if k != "loadBalancerProfile"}
    assert network == {
        "networkPlugin": "azure",
        "networkPluginMode": "overlay",
        "networkPolicy": "none",
        "networkDataplane": "azure",
        "loadBalancerSku": "standard",
        "outboundType": "loadBalancer",
        "podCidr": "10.244.0.0/16",
        "podCidrs": ["10.244.0.0/16"],
        "serviceCidr": "10.0.0.0/16",
        "serviceCidrs": ["10.0.0.0/16"],
        "dnsServiceIP": "10.0.0.10",
        "ipFamilies": ["IPv4"],
    }
    assert body["fqdn"].startswith("ml-")
    assert body["fqdn"].endswith(".hcp.westeurope.azmk8s.io")
    assert body["oidcIssuerProfile"]["issuerURL"].startswith(
        f"https://westeurope.oic.prod-aks.azure.com/{azure_ids.TENANT}/"
    )
    kubelet = body["identityProfile"]["kubeletidentity"]
    assert kubelet["resourceId"].endswith(
        "/resourcegroups/MC_ml_two_westeurope/providers/Microsoft.ManagedIdentity/userAssignedIdentities/two-agentpool"
    )


@pytest.mark.parametrize(("minor", "patch"), [("1.34", "1.34.7"), ("1.35", "1.35.5"), ("1.36", "1.36.2")])
def test_a_minor_version_stands_for_its_patch(ready: Account, minor: str, patch: str) -> None:
    body = ready.cluster(resourceName="two", kubernetesVersion=minor).old_outputs
    assert body["currentKubernetesVersion"] == patch


def test_regular_pool_gets_the_documented_defaults(ready: Account) -> None:
    body = ready.create(POOL, {**REGULAR, "scaleSetPriority": "Regular", "spotMaxPrice": -1}).old_outputs
    assert body == {
        "name": "cpu",
        "type": "VirtualMachineScaleSets",
        "mode": "User",
        "count": 2,
        "vmSize": "Standard_D4s_v5",
        "enableAutoScaling": False,
        "scaleDownMode": "Delete",
        "orchestratorVersion": "1.35",
        "currentOrchestratorVersion": "1.35.5",
        "enableNodePublicIP": False,
        "nodeLabels": {},
        "enableEncryptionAtHost": False,
        "enableUltraSSD": False,
        "enableFIPS": False,
        "osType": "Linux",
        "osSKU": "Ubuntu",
        "osDiskType": "Managed",
        "osDiskSizeGB": 128,
        "kubeletDiskType": "OS",
        "maxPods": 250,
        "nodeImageVersion": "AKSUbuntu-2204gen2containerd-202506.16.0",
        "powerState": {"code": "Running"},
        "provisioningState": "Succeeded",
        "securityProfile": {"enableVTPM": False, "enableSecureBoot": False},
        "upgradeSettings": {"maxSurge": "10%", "maxUnavailable": "0"},
        "azureApiVersion": "2025-09-01",
    }


def test_spot_pool_gets_label_and_taint_beside_its_own(ready: Account) -> None:
    own = {"nodeLabels": {"tier": "spot"}, "nodeTaints": ["nvidia.com/gpu=present:NoSchedule"]}
    body = ready.create(POOL, {**SPOT, **own}).old_outputs
    assert body["nodeLabels"] == {"tier": "spot", "kubernetes.azure.com/scalesetpriority": "spot"}
    assert body["nodeTaints"] == [
        "nvidia.com/gpu=present:NoSchedule",
        "kubernetes.azure.com/scalesetpriority=spot:NoSchedule",
    ]
    assert (body["scaleSetPriority"], body["scaleSetEvictionPolicy"], body["spotMaxPrice"]) == ("Spot", "Delete", -1)
    assert "upgradeSettings" not in body
    bare = ready.create(POOL, {**SPOT, "agentPoolName": "bare", "nodeTaints": []}).old_outputs
    assert bare["nodeTaints"] == ["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]


def test_labels_and_taints_are_replaced_as_a_whole(ready: Account) -> None:
    first = {**SPOT, "nodeLabels": {"a": "b"}, "nodeTaints": ["a=b:NoSchedule"]}
    updated = ready.update(ready.create(POOL, first), {**SPOT, "nodeLabels": {"c": "d"}, "nodeTaints": []}).old_outputs
    assert updated["nodeLabels"] == {"c": "d", "kubernetes.azure.com/scalesetpriority": "spot"}
    assert updated["nodeTaints"] == ["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]


@pytest.mark.parametrize(
    ("network_profile", "pods"),
    [
        ({}, 250),
        ({"networkPlugin": "azure", "networkPluginMode": "overlay"}, 250),
        ({"networkPlugin": "azure"}, 30),
        ({"networkPlugin": "kubenet"}, 110),
    ],
)
def test_pods_a_node_depend_on_the_network_plugin(account: Account, network_profile: dict[str, Any], pods: int) -> None:
    cluster = account.cluster(networkProfile=network_profile)
    assert cluster.old_outputs["agentPoolProfiles"][0]["maxPods"] == pods


def test_pool_with_few_pods_a_node_may_shrink(ready: Account) -> None:
    pool = ready.create(POOL, {**REGULAR, "maxPods": 15})
    assert ready.update(pool, {**REGULAR, "maxPods": 15, "count": 1}).old_outputs["count"] == 1


@pytest.mark.parametrize(
    ("size", "changes", "disk"),
    [
        ("Standard_D4ds_v5", {}, ("Ephemeral", 150)),
        ("Standard_D2ds_v5", {}, ("Managed", 128)),
        ("Standard_D4ds_v5", {"osDiskSizeGB": 200}, ("Managed", 200)),
        ("Standard_D8s_v5", {}, ("Managed", 256)),
        ("Standard_D16s_v5", {}, ("Managed", 512)),
        ("Standard_D64s_v5", {}, ("Managed", 1024)),
    ],
)
def test_system_disk_depends_on_the_size(
    ready: Account, size: str, changes: dict[str, Any], disk: tuple[str, int]
) -> None:
    body = ready.create(POOL, {**REGULAR, "vmSize": size, **changes}).old_outputs
    assert (body["osDiskType"], body["osDiskSizeGB"]) == disk


def test_autoscaled_cluster_shows_the_profile_it_was_not_sent(ready: Account) -> None:
    sent = {"agentPoolProfiles": [AUTOSCALED], "autoScalerProfile": {"scanInterval": "20s"}}
    cluster = ready.cluster(resourceName="two", **sent)
    profile = cluster.old_outputs["autoScalerProfile"]
    assert (len(profile), profile["scanInterval"], profile["scaleDownDelayAfterDelete"]) == (17, "20s", "10s")
    fixed = ready.cluster(resourceName="three", autoScalerProfile={"scanInterval": "20s"})
    assert fixed.old_outputs["autoScalerProfile"] == {"scanInterval": "20s"}
    again = ready.refresh(cluster)
    assert again.old_inputs == cluster.old_inputs
    assert not ready.diff(again, {**CLUSTER_INPUTS, "resourceName": "two", **sent}).changes


def test_reading_a_cluster_back_changes_nothing(account: Account) -> None:
    """Other types: test_types."""
    account.network()
    identity = account.create(IDENTITY, ml(resourceName="control"))
    cluster = account.cluster(
        identity={"type": "UserAssigned", "userAssignedIdentities": [identity.id]},
        agentPoolProfiles=[{**SYSTEM, "vnetSubnetID": account.subnet().id}],
    )
    assert account.refresh(cluster) == cluster
    assert list(cluster.old_outputs["identity"]["userAssignedIdentities"]) == [identity.id]


def test_moved_count_comes_back_into_the_inputs(ready: Account) -> None:
    pool = ready.create(POOL, SPOT)
    ready.cloud.scale("aks", "t4spot", 3)
    again = ready.refresh(pool)
    assert again.old_inputs == {**pool.old_inputs, "count": 3}
    assert {path: str(kind) for path, kind in ready.diff(again, SPOT).changes.items()} == {"count": "update"}


def test_standalone_pool_shows_in_the_refreshed_cluster(ready: Account) -> None:
    cluster = ready.cluster(resourceName="two")
    ready.create(POOL, {**REGULAR, "resourceName": "two"})
    again = ready.refresh(cluster)
    assert [p["name"] for p in again.old_outputs["agentPoolProfiles"]] == ["system", "cpu"]
    first, second = again.old_inputs["agentPoolProfiles"]
    assert first == SYSTEM
    assert second["name"] == "cpu"
    assert second["maxPods"] == 250
    assert "currentOrchestratorVersion" not in second
    changes = ready.diff(again, {**CLUSTER_INPUTS, "resourceName": "two"}).changes
    assert {path: str(kind) for path, kind in changes.items()} == {"agentPoolProfiles[1]": "delete"}


def test_inline_pool_that_an_update_does_not_name_stays(ready: Account) -> None:
    cluster = ready.cluster(resourceName="two", agentPoolProfiles=[SYSTEM, {**SYSTEM, "name": "more", "mode": "User"}])
    ready.update(cluster, {**CLUSTER_INPUTS, "resourceName": "two", "agentPoolProfiles": [SYSTEM]})
    assert [p.pool for p in ready.cloud.pools() if p.cluster == "two"] == ["system", "more"]


def test_inline_pool_keeps_what_an_update_leaves_out(ready: Account) -> None:
    cluster = ready.cluster(resourceName="two", agentPoolProfiles=[{**AUTOSCALED, "nodeLabels": {"a": "b"}}])
    ready.cloud.scale("two", "system", 3)
    updated = ready.update(
        cluster, {**CLUSTER_INPUTS, "resourceName": "two", "agentPoolProfiles": [{"name": "system", "maxCount": 5}]}
    )
    (pool,) = updated.old_outputs["agentPoolProfiles"]
    assert (pool["count"], pool["maxCount"], pool["nodeLabels"], pool["mode"]) == (3, 5, {"a": "b"}, "System")


def test_pools_stay_at_their_version_when_the_cluster_moves(account: Account) -> None:
    account.group()
    inputs = {**CLUSTER_INPUTS, "kubernetesVersion": "1.34"}
    cluster = account.update(account.create(CLUSTER, inputs), {**inputs, "kubernetesVersion": "1.35"})
    assert cluster.old_outputs["currentKubernetesVersion"] == "1.35.5"
    assert cluster.old_outputs["agentPoolProfiles"][0]["currentOrchestratorVersion"] == "1.34.7"


@pytest.mark.parametrize(
    ("pool", "control_plane", "refused"),
    [("1.34.7", "1.36.2", False), ("1.33.9", "1.36.2", True), ("1.36.2", "1.36.2", False), ("1.36.10", "1.36.2", True)],
)
def test_pools_trail_the_control_plane_by_two_minors_at_most(pool: str, control_plane: str, refused: bool) -> None:
    assert (too_far_apart(pool, control_plane) is not None) == refused


def test_existing_pool_is_not_created_again(ready: Account) -> None:
    inline = {**REGULAR, "agentPoolName": "system"}
    with pytest.raises(Exception, match=r"^cannot create already existing resource '.*/agentPools/system'$"):
        ready.create(POOL, inline)
