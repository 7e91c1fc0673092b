"""Roles at resources, and references of clusters and disks: each refusal with a similar request that is accepted."""

from __future__ import annotations

import pytest

from sandbox.azure import azure_ids
from sandbox.cloud.provider import InitFailed, Resource

from .conftest import CLUSTER, CLUSTER_INPUTS, IDENTITY, ROLE, Account, CheckFailed, Props, ml, refusal

REGISTRY = "azure-native:containerregistry:Registry"
VAULT = "azure-native:keyvault:Vault"
DISKS = "azure-native:compute:DiskEncryptionSet"

# AcrPull: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles/containers
ACR_PULL = "7f951dda-4ed3-4680-a7ca-43fe172d538d"
OTHER_ROLE = "4d97b98b-1d4f-4787-a291-c67834d212e7"
NAME, OTHER_NAME = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"

REGISTRY_INPUTS: Props = ml(registryName="mlImages", sku={"name": "Standard"})
VAULT_INPUTS: Props = ml(
    vaultName="keys", properties={"tenantId": azure_ids.TENANT, "sku": {"family": "A", "name": "standard"}}
)


def disks(vault_id: str, **changes: object) -> Props:
    key = {"keyUrl": "https://keys.vault.azure.net/keys/disks/1", "sourceVault": {"id": vault_id}}
    return {
        "resourceGroupName": "ml",
        "diskEncryptionSetName": "disks",
        "identity": {"type": "SystemAssigned"},
        "activeKey": key,
        **changes,
    }


def role_definition(role: str, prefix: str = "") -> str:
    return f"{prefix}/providers/Microsoft.Authorization/roleDefinitions/{role}"


@pytest.fixture
def registry(ready: Account) -> Resource:
    return ready.create(REGISTRY, REGISTRY_INPUTS)


def pull(registry: Resource, principal: str, **changes: object) -> Props:
    return {
        "scope": registry.id,
        "principalId": principal,
        "principalType": "ServicePrincipal",
        "roleDefinitionId": role_definition(ACR_PULL),
        "roleAssignmentName": NAME,
        **changes,
    }


def kubelet(cluster: Resource) -> str:
    return str(cluster.old_outputs["identityProfile"]["kubeletidentity"]["objectId"])


def test_registry_gets_its_server(registry: Resource) -> None:
    assert registry.old_outputs == {
        "name": "mlImages",
        "type": "Microsoft.ContainerRegistry/registries",
        "location": "westeurope",
        "loginServer": "mlimages.azurecr.io",
        "sku": {"name": "Standard", "tier": "Standard"},
        "adminUserEnabled": False,
        "anonymousPullEnabled": False,
        "dataEndpointEnabled": False,
        "networkRuleBypassOptions": "AzureServices",
        "publicNetworkAccess": "Enabled",
        "zoneRedundancy": "Disabled",
        "provisioningState": "Succeeded",
        "azureApiVersion": "2023-01-01-preview",
    }


@pytest.mark.parametrize("name", ["abcd", "a" * 51, "ml-images"])
def test_registry_names(account: Account, name: str) -> None:
    with pytest.raises(CheckFailed, match=r"'registryName' (is too (short|long)|does not match)"):
        account.check(REGISTRY, {**REGISTRY_INPUTS, "registryName": name})
    account.check(REGISTRY, {**REGISTRY_INPUTS, "registryName": "abcde"})


def test_kubelet_may_pull_once_its_cluster_is_up(ready: Account, registry: Resource) -> None:
    # A cluster made again has the same numbers here, so that the kubelet's is known before this one is up.
    inputs = {**CLUSTER_INPUTS, "resourceName": "two"}
    before = ready.create(CLUSTER, inputs)
    ready.provider.delete(before)
    ready.runtime.fails(OSError("no space left on device"))
    with pytest.raises(InitFailed) as failed:
        ready.create(CLUSTER, inputs)
    refused = refusal(ready.create, ROLE, pull(registry, kubelet(before)))
    assert refused.code == "PrincipalNotFound"
    half = Resource(CLUSTER, "it", "urn", failed.value.id, old_inputs=inputs, old_outputs=failed.value.outputs)
    assert kubelet(ready.update(half, inputs)) == kubelet(before)
    assert ready.create(ROLE, pull(registry, kubelet(before))).old_outputs["scope"] == registry.id


def test_role_is_given_once(ready: Account, registry: Resource) -> None:
    cluster = ready.cluster(resourceName="two")
    ready.create(ROLE, pull(registry, kubelet(cluster)))
    spelled_out = role_definition(ACR_PULL.upper(), f"/subscriptions/{azure_ids.SUBSCRIPTION}")
    for changes in ({}, {"roleDefinitionId": spelled_out}, {"scope": registry.id.upper()}):
        refused = refusal(ready.create, ROLE, pull(registry, kubelet(cluster), roleAssignmentName=OTHER_NAME) | changes)
        assert (refused.status, refused.code) == (409, "RoleAssignmentExists")
        assert refused.message == (
            f"The role assignment already exists. The ID of the existing role assignment is {NAME.replace('-', '')}."
        )
    for changes in (
        {"roleDefinitionId": role_definition(OTHER_ROLE)},
        {"scope": registry.id.rsplit("/providers/", 1)[0]},
    ):
        assignment = ready.create(ROLE, pull(registry, kubelet(cluster), roleAssignmentName=OTHER_NAME) | changes)
        ready.provider.delete(assignment)


def test_scope_must_be_there(ready: Account, registry: Resource) -> None:
    group = registry.id.split("/providers/")[0]
    for scope, code in (
        (registry.id + "2", "ResourceNotFound"),
        (registry.id.replace("/ml/", "/no/"), "ResourceGroupNotFound"),
        (f"{group}/providers/Microsoft.KeyVault/vaults/keys", "ResourceNotFound"),
        (registry.id.replace(azure_ids.SUBSCRIPTION, "${SUB}"), "InvalidSubscriptionId"),
        (registry.id.replace(azure_ids.SUBSCRIPTION, "Pay-As-You-Go"), "InvalidSubscriptionId"),
        ("mlImages", "MissingSubscription"),
        ("mlimages.azurecr.io", "MissingSubscription"),
    ):
        refused = refusal(ready.create, ROLE, pull(registry, azure_ids.USER_OBJECT, scope=scope))
        assert refused.code == code, scope
    for scope in (
        registry.id,
        group,
        f"/subscriptions/{azure_ids.SUBSCRIPTION}",
        # Types that are not emulated are taken as existing.
        f"{group}/providers/Microsoft.ServiceBus/namespaces/mlevents",
        "/providers/Microsoft.Management/managementGroups/ml",
    ):
        assert ready.create(ROLE, pull(registry, azure_ids.USER_OBJECT, scope=scope)).id.startswith(scope)


def test_role_goes_with_its_scope(ready: Account, registry: Resource) -> None:
    assignment = ready.create(ROLE, pull(registry, azure_ids.USER_OBJECT))
    ready.provider.delete(registry)
    assert ready.provider.read(assignment) is None


def test_disks_are_encrypted_with_a_key_of_an_existing_vault(ready: Account) -> None:
    vault = ready.create(VAULT, VAULT_INPUTS)
    assert vault.old_outputs["properties"]["vaultUri"] == "https://keys.vault.azure.net/"
    for changes, code in (
        ({"activeKey": {"keyUrl": "https://k", "sourceVault": {"id": vault.id + "2"}}}, "ResourceNotFound"),
        ({"activeKey": None}, "InvalidParameter"),
        ({"identity": None}, "InvalidParameter"),
        ({"identity": {"type": "UserAssigned", "userAssignedIdentities": [vault.id]}}, "ResourceNotFound"),
    ):
        assert refusal(ready.create, DISKS, disks(vault.id, **changes)).code == code, changes
    disk_set = ready.create(DISKS, disks(vault.id))
    assert disk_set.old_outputs["encryptionType"] == "EncryptionAtRestWithCustomerKey"
    # The identity of the disk encryption set can get a role at the vault.
    principal = disk_set.old_outputs["identity"]["principalId"]
    ready.create(ROLE, pull(vault, principal))


def test_user_assigned_identity_of_a_resource_is_shown_with_its_numbers(ready: Account) -> None:
    identity = ready.create(IDENTITY, ml(resourceName="control"))
    vault = ready.create(VAULT, VAULT_INPUTS)
    wanted = disks(vault.id, identity={"type": "UserAssigned", "userAssignedIdentities": [identity.id]})
    disk_set = ready.create(DISKS, wanted)
    shown = disk_set.old_outputs["identity"]["userAssignedIdentities"]
    assert shown == {identity.id: {n: identity.old_outputs[n] for n in ("clientId", "principalId")}}
    assert ready.diff(ready.refresh(disk_set), wanted).changes == {}
    imported = ready.provider.read(Resource(DISKS, "it", "urn", disk_set.id))
    assert imported is not None
    assert imported[0]["identity"] == wanted["identity"]


def test_vault_names(account: Account) -> None:
    for name in ("ab", "a" * 25, "a_b"):
        with pytest.raises(CheckFailed, match="'vaultName' does not match"):
            account.check(VAULT, {**VAULT_INPUTS, "vaultName": name})
    account.check(VAULT, {**VAULT_INPUTS, "vaultName": "a" * 24})
    with pytest.raises(CheckFailed, match="'diskEncryptionSetName' does not match"):
        account.check(DISKS, disks("v", diskEncryptionSetName="disks.1"))
