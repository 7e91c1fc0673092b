"""The provider's own part: check, diff, previews, functions, and refusals: the whole body of AKS, the message of ARM."""

import base64
import dataclasses
import json
import re
from typing import Any

import pytest

from sandbox.cloud.provider import UNKNOWN, InitFailed, Refused, Resource

from .conftest import (
    CLUSTER,
    CLUSTER_INPUTS,
    GROUP,
    IDENTITY,
    POOL,
    REGULAR,
    SPOT,
    SYSTEM,
    Account,
    CheckFailed,
    ml,
    refusal,
)


@pytest.mark.parametrize(
    ("token", "inputs", "reason"),
    [
        (POOL, {**SPOT, "vmsize": "x"}, "unknown property 'vmsize'"),
        (POOL, {**SPOT, "gpuProfile": {"driver": "Install", "nvidia": {}}}, "unknown property 'gpuProfile.nvidia'"),
        (
            CLUSTER,
            {**CLUSTER_INPUTS, "agentPoolProfiles": [{**SYSTEM, "agentPoolName": "x"}]},
            "unknown property 'agentPoolProfiles[0].agentPoolName'",
        ),
        (POOL, {**SPOT, "count": "1"}, "'count' should be of type integer but is of type string"),
        (POOL, {**SPOT, "count": True}, "'count' should be of type integer but is of type boolean"),
        (POOL, {**SPOT, "nodeTaints": {"a": "b"}}, "'nodeTaints' should be of type array but is of type object"),
        (POOL, {**SPOT, "nodeLabels": {"a": 1}}, "'nodeLabels.a' should be of type string but is of type integer"),
        (POOL, {**SPOT, "scaleSetPriority": "spot"}, "'scaleSetPriority' is 'spot' but should be one of Spot, Regular"),
        (POOL, {k: v for k, v in SPOT.items() if k != "resourceName"}, "missing required property 'resourceName'"),
        (
            CLUSTER,
            {**CLUSTER_INPUTS, "agentPoolProfiles": [{"count": 1}]},
            "missing required property 'agentPoolProfiles[0].name'",
        ),
        (POOL, {**SPOT, "agentPoolName": "GPU"}, "'agentPoolName' does not match expression '^[a-z][a-z0-9]{0,11}$'"),
        (GROUP, {"resourceGroupName": "a" * 91}, "'resourceGroupName' is too long (91): at most 90 characters allowed"),
    ],
)
def test_check_refuses(account: Account, token: str, inputs: dict[str, Any], reason: str) -> None:
    with pytest.raises(CheckFailed) as failed:
        account.check(token, inputs)
    assert str(failed.value) == reason


def test_check_drops_nulls_and_lets_unknowns_pass(account: Account) -> None:
    checked = account.check(POOL, {**SPOT, "count": UNKNOWN, "resourceName": UNKNOWN, "osSKU": None})
    assert "osSKU" not in checked
    assert checked["azureApiVersion"] == "2025-09-01"


def test_streams_are_open_though_the_sdk_lists_some(account: Account) -> None:
    token = "azure-native:monitor:DataCollectionRule"
    rule = ml(dataCollectionRuleName="logs", kind="Linux")
    streams = ["Microsoft-ContainerInsights-Group-Default", "Custom-Mine_CL"]
    account.check(token, {**rule, "dataFlows": [{"streams": streams, "destinations": ["kept"]}]})
    for changes, reason in (
        (
            {"dataFlows": [{"streams": "Microsoft-Perf"}]},
            "'dataFlows[0].streams' should be of type array but is of type",
        ),
        # Other enums of the same module stay closed.
        ({"kind": "linux"}, "'kind' is 'linux' but should be one of Linux, Windows"),
    ):
        with pytest.raises(CheckFailed, match=re.escape(reason)):
            account.check(token, {**rule, **changes})


def test_region_is_needed(account: Account) -> None:
    account.provider.configure({})
    with pytest.raises(Refused, match='Code="LocationRequired"'):
        account.create(GROUP, ml())
    account.create(GROUP, ml(location="westeurope"))


def test_region_must_be_there(account: Account) -> None:
    for token, inputs, code in (
        (GROUP, ml(), "LocationNotAvailableForResourceGroup"),
        (IDENTITY, ml(resourceName="runs"), "LocationNotAvailableForResourceType"),
    ):
        with pytest.raises(Refused, match=f'Code="{code}" Message="The provided location \'westeuropa\' is not'):
            account.create(token, {**inputs, "location": "westeuropa"})
        account.create(token, {**inputs, "location": "West Europe"})


def test_preview_does_not_know_what_a_list_of_identities_will_be_called(account: Account) -> None:
    inputs = account.check(
        CLUSTER, {**CLUSTER_INPUTS, "identity": {"type": "UserAssigned", "userAssignedIdentities": ["/an/id"]}}
    )
    _, outputs = account.provider.create(Resource(CLUSTER, "two", "urn", inputs=inputs, preview=True))
    assert outputs["identity"]["type"] == "UserAssigned"
    assert outputs["identity"]["userAssignedIdentities"] == UNKNOWN


def test_location_comes_from_the_old_value_then_the_provider_then_the_group(account: Account) -> None:
    inputs = ml(resourceName="runs")
    account.create(GROUP, ml(location="North Europe"))
    assert account.check(IDENTITY, inputs, {"location": "eastus"})["location"] == "eastus"
    assert account.check(IDENTITY, inputs)["location"] == "westeurope"
    account.provider.configure({})
    assert account.check(IDENTITY, inputs)["location"] == "northeurope"
    assert "location" not in account.check(IDENTITY, {**inputs, "resourceGroupName": "no"})


def test_automatic_name_is_kept_and_creates_before_it_deletes(ready: Account) -> None:
    unnamed = ml()
    identity = ready.create(IDENTITY, unnamed)
    name = identity.old_inputs["resourceName"]
    assert re.fullmatch("userassignedidentity[0-9a-f]{8}", name)
    assert ready.check(IDENTITY, unnamed, identity.old_inputs)["resourceName"] == name
    diff = ready.diff(identity, {**unnamed, "location": "eastus"})
    assert (diff.replaces, diff.delete_before_replace) == ({"location"}, False)


def test_automatic_pool_name_may_be_too_long(account: Account) -> None:
    with pytest.raises(CheckFailed, match="'agentPoolName' does not match"):
        account.check(POOL, {k: v for k, v in REGULAR.items() if k != "agentPoolName"})


POOL_DIFFS: list[tuple[dict[str, Any], dict[str, str], set[str]]] = [
    ({}, {}, set()),
    ({"vmSize": "Standard_NC8as_T4_v3"}, {"vmSize": "update"}, {"vmSize"}),
    ({"agentPoolName": "other"}, {"agentPoolName": "update"}, {"agentPoolName"}),
    ({"resourceName": "other"}, {"resourceName": "update"}, {"resourceName"}),
    ({"resourceGroupName": "ML"}, {}, set()),
    ({"gpuInstanceProfile": "MIG1g"}, {"gpuInstanceProfile": "add"}, {"gpuInstanceProfile"}),
    # Not force-new in azure-native: it shows an update, and the service refuses.
    ({"scaleSetPriority": "Regular"}, {"scaleSetPriority": "update"}, set()),
    ({"maxPods": 50}, {"maxPods": "add"}, set()),
    ({"osDiskType": "Managed"}, {"osDiskType": "add"}, set()),
    ({"maxCount": 9}, {"maxCount": "update"}, set()),
    ({"nodeLabels": {"a.io/b": "c"}}, {"nodeLabels": "add"}, set()),
]


@pytest.mark.parametrize(("changes", "paths", "replaces"), POOL_DIFFS)
def test_diff_of_a_pool(ready: Account, changes: dict[str, Any], paths: dict[str, str], replaces: set[str]) -> None:
    diff = ready.diff(ready.create(POOL, SPOT), {**SPOT, **changes})
    assert {path: str(kind) for path, kind in diff.changes.items()} == paths
    assert diff.replaces == replaces
    assert diff.delete_before_replace == bool(replaces)


CLUSTER_DIFFS: list[tuple[dict[str, Any], set[str]]] = [
    ({"dnsPrefix": "other"}, {"dnsPrefix"}),
    ({"location": "eastus"}, {"location"}),
    ({"location": "West Europe"}, set()),
    ({"kubernetesVersion": "1.36"}, set()),
    ({"networkProfile": {"podCidr": "10.200.0.0/16", "loadBalancerSku": "standard"}}, {"networkProfile.podCidr"}),
    ({"networkProfile": {"podCidr": "10.201.0.0/16", "loadBalancerSku": "basic"}}, set()),
    ({"agentPoolProfiles": [{**SYSTEM, "vmSize": "Standard_D8s_v5"}]}, set()),
    ({"nodeResourceGroup": "other"}, {"nodeResourceGroup"}),
    # Added, but what the service has anyway.
    ({"nodeResourceGroup": "MC_ml_two_westeurope"}, set()),
    ({"windowsProfile": {"adminUsername": "a"}}, {"windowsProfile"}),
    # An update below a property that replaces.
    ({"linuxProfile": {"adminUsername": "b", "ssh": {"publicKeys": []}}}, {"linuxProfile.adminUsername"}),
]


@pytest.mark.parametrize(("changes", "replaces"), CLUSTER_DIFFS)
def test_diff_of_a_cluster(ready: Account, changes: dict[str, Any], replaces: set[str]) -> None:
    network = {"podCidr": "10.201.0.0/16", "loadBalancerSku": "standard"}
    linux = {"adminUsername": "a", "ssh": {"publicKeys": []}}
    inputs = {**CLUSTER_INPUTS, "resourceName": "two", "networkProfile": network, "linuxProfile": linux}
    cluster = ready.create(CLUSTER, inputs)
    assert ready.diff(cluster, {**inputs, **changes}).replaces == replaces


def test_preview_of_a_create_shows_inputs_and_makes_nothing(ready: Account) -> None:
    inputs = ready.check(CLUSTER, {**CLUSTER_INPUTS, "resourceName": "two", "oidcIssuerProfile": {"enabled": True}})
    id, outputs = ready.provider.create(Resource(CLUSTER, "two", "urn", inputs=inputs, preview=True))
    assert id == ""
    assert outputs["dnsPrefix"] == "ml"
    assert outputs["oidcIssuerProfile"] == {"enabled": True, "issuerURL": UNKNOWN}
    assert outputs["fqdn"] == UNKNOWN
    assert len(ready.cloud.pools()) == 1


def test_preview_of_an_update_changes_nothing(ready: Account) -> None:
    pool = ready.create(POOL, SPOT)
    wanted = ready.check(POOL, {**SPOT, "maxCount": 9}, pool.old_inputs)
    outputs = ready.provider.update(dataclasses.replace(pool, inputs=wanted, preview=True))
    assert (outputs["name"], outputs["maxCount"], outputs["nodeImageVersion"]) == ("t4spot", 9, UNKNOWN)
    assert ready.cloud.pools()[1].most == 4


def test_control_plane_that_does_not_start_leaves_a_failed_cluster(account: Account) -> None:
    account.group()
    account.runtime.fails(OSError("no space left on device"))
    with pytest.raises(InitFailed, match="no space left") as failed:
        account.cluster()
    assert failed.value.outputs["provisioningState"] == "Failed"
    cluster = Resource(
        CLUSTER, "it", "urn", failed.value.id, old_inputs=CLUSTER_INPUTS, old_outputs=failed.value.outputs
    )
    assert account.update(cluster, CLUSTER_INPUTS).old_outputs["provisioningState"] == "Succeeded"


def test_aks_error_prints_its_whole_body(ready: Account) -> None:
    refused = refusal(ready.create, POOL, {**SPOT, "count": None})
    prefix = 'Status=400 Code="InvalidParameter" Message="'
    assert str(refused).startswith(prefix)
    body = json.loads(str(refused)[len(prefix) : -1])
    assert body == {
        "code": "InvalidParameter",
        "details": None,
        "message": "Required parameter properties.count is missing (null).",
        "subcode": "",
        "target": "properties.count",
    }


def test_arm_error_prints_its_message(ready: Account) -> None:
    assert str(refusal(ready.create, POOL, {**REGULAR, "resourceGroupName": "no"})) == (
        'Status=404 Code="ResourceGroupNotFound" Message="Resource group \'no\' could not be found."'
    )


CREDENTIALS = "azure-native:containerservice:listManagedClusterUserCredentials"


def test_credentials_of_a_cluster(ready: Account) -> None:
    args = ml(resourceName="aks")
    (entry,) = ready.provider.invoke(CREDENTIALS, args)["kubeconfigs"]
    assert base64.b64decode(entry["value"]).startswith(b"kubeconfig of /subscriptions/")
    assert entry["name"] == "clusterUser"
    with pytest.raises(Refused, match="unknown argument 'name'"):
        ready.provider.invoke(CREDENTIALS, {**args, "name": "x"})
    with pytest.raises(
        Refused, match=r'^Status=404 Code="ResourceNotFound" Message="The Resource .*managedClusters/no'
    ):
        ready.provider.invoke(CREDENTIALS, {**args, "resourceName": "no"})


def test_no_admin_credentials_without_local_accounts(ready: Account) -> None:
    ready.cluster(resourceName="two", disableLocalAccounts=True, aadProfile={"managed": True})
    admin = CREDENTIALS.replace("User", "Admin")
    assert ready.provider.invoke(admin, ml(resourceName="aks"))["kubeconfigs"]
    with pytest.raises(Refused, match="Getting static credential is not allowed"):
        ready.provider.invoke(admin, ml(resourceName="two"))


def test_every_type_can_be_read_by_its_names(account: Account) -> None:
    account.network()
    subnet = account.subnet()
    token, args = "azure-native:network:getSubnet", ml(virtualNetworkName="net")
    result = account.provider.invoke(token, {**args, "subnetName": "nodes"})
    assert (result["id"], result["addressPrefix"]) == (subnet.id, "10.100.0.0/20")
    for wrong, reason in (
        ({**args, "subnetName": "no"}, r"The Resource 'Microsoft.Network/virtualNetworks/net/subnets/no'"),
        (args, "missing required argument 'subnetName'"),
        ({**args, "subnetName": "nodes", "name": "x"}, "unknown argument 'name'"),
    ):
        with pytest.raises(Refused, match=reason):
            account.provider.invoke(token, wrong)


def test_client_config_and_unknown_functions(account: Account) -> None:
    result = account.provider.invoke("azure-native:authorization:getClientConfig", {})
    assert result.keys() == {"clientId", "objectId", "subscriptionId", "tenantId"}
    with pytest.raises(Refused, match="unknown function azure-native:compute:getDisk"):
        account.provider.invoke("azure-native:compute:getDisk", {})
