"""Identities, their credentials and roles, and references of clusters and disks: each refusal with a request that is accepted."""

import pytest

from sandbox.azure import azure_ids
from sandbox.azure.azure_errors import AzureRefused
from sandbox.azure.azure_operations import CredentialWrites, Propagation
from sandbox.azure.azure_plugin import PLUGIN
from sandbox.azure.azure_provider import AzureProvider
from sandbox.azure.resources import azure_machine_rules
from sandbox.cloud.provider import InitFailed, Resource
from sandbox.cloud.state import Store

from .conftest import (
    CLUSTER,
    CLUSTER_INPUTS,
    FEDERATED,
    IDENTITY,
    ROLE,
    VAULT_INPUTS,
    Account,
    Props,
    ml,
    refusal,
)

REGISTRY = "azure-native:containerregistry:Registry"
VAULT = "azure-native:keyvault:Vault"
DISKS = "azure-native:compute:DiskEncryptionSet"

# AcrPull: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles/containers
ACR_PULL = "7f951dda-4ed3-4680-a7ca-43fe172d538d"
OTHER_ROLE = "4d97b98b-1d4f-4787-a291-c67834d212e7"
NAME = "11111111-1111-4111-8111-111111111111"


def granted(principal: str, scope: str, role: str = ACR_PULL, **changes: str) -> Props:
    definition = f"/providers/Microsoft.Authorization/roleDefinitions/{role}"
    grant = {"principalId": principal, "principalType": "ServicePrincipal", "roleDefinitionId": definition}
    return {**grant, "scope": scope, **changes}


def credential(**changes: str) -> Props:
    return (
        ml(
            resourceName="runs",
            federatedIdentityCredentialResourceName="pipelines",
            issuer="https://westeurope.oic.prod-aks.azure.com/t/i/",
            subject="system:serviceaccount:kubeflow:pipeline-runner",
            audiences=["api://AzureADTokenExchange"],
        )
        | changes
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


@pytest.fixture
def registry(ready: Account) -> Resource:
    return ready.create(REGISTRY, ml(registryName="mlImages", sku={"name": "Standard"}))


def kubelet(cluster: Resource) -> str:
    return str(cluster.old_outputs["identityProfile"]["kubeletidentity"]["objectId"])


def test_two_credentials_of_one_identity_are_not_written_at_once() -> None:
    identity = "/subscriptions/s/resourceGroups/ml/providers/Microsoft.ManagedIdentity/userAssignedIdentities/runs"
    writes = CredentialWrites(wait=lambda seconds: None)
    with writes.around(f"{identity}/federatedIdentityCredentials/one"):
        with (
            pytest.raises(AzureRefused, match=r"written concurrently for the managed identity '/subs.*/runs'"),
            writes.around(f"{identity.lower()}/federatedIdentityCredentials/two"),
        ):
            pass
        with writes.around(f"{identity}2/federatedIdentityCredentials/one"), writes.around(identity):
            pass
    with writes.around(f"{identity}/federatedIdentityCredentials/two"):
        pass


def test_what_is_new_is_not_known_everywhere_at_once_and_other_things_are(ready: Account) -> None:
    """Only for a provider that has `Propagation`, as the sandbox's have."""
    assert isinstance(PLUGIN.provider(ready.cloud), AzureProvider)
    ready.provider = AzureProvider(ready.cloud, Propagation())
    identity = ready.create(IDENTITY, ml(resourceName="runs"))
    scope = identity.id.split("/providers/")[0]
    permissions = [{"actions": ["Microsoft.Storage/storageAccounts/blobServices/containers/read"]}]
    definition = {"roleName": "ours", "scope": scope, "assignableScopes": [scope], "permissions": permissions}
    own = ready.create("azure-native:authorization:RoleDefinition", definition)
    principal = identity.old_outputs["principalId"]
    ready.create(ROLE, granted(principal, scope))
    ours = f"/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/{azure_ids.last(own.id)}"
    role = granted(principal, scope, roleDefinitionId=ours)
    for token, inputs, refusals in (
        (FEDERATED, credential(), ("ParentResourceNotFound", "MS Graph resource not found")),
        (ROLE, role, ("RoleDefinitionDoesNotExist", "RoleDefinitionDoesNotExist")),
    ):
        for words in refusals:
            with pytest.raises(AzureRefused, match=words):
                ready.create(token, inputs)
        ready.create(token, inputs)


def test_an_identity_that_is_made_again_is_somebody_else_where_its_rights_were_left(ready: Account) -> None:
    inputs = ml(resourceName="runs")
    known: set[str] = set()
    for _ in range(3):
        identity = ready.create(IDENTITY, inputs)
        principal = identity.old_outputs["principalId"]
        assert principal not in known
        known |= {principal}
        ready.create(ROLE, granted(principal, identity.id.split("/providers/")[0]))
        identity = ready.update(identity, {**inputs, "tags": {"team": "ml"}})
        assert identity.old_outputs["principalId"] == principal
        ready.provider.delete(identity)


def test_a_reserved_pool_goes_while_the_identity_may_take_it_out_of_its_group(ready: Account) -> None:
    identity = ready.create(IDENTITY, ml(resourceName="runs"))
    cluster = {"identity": {"userAssignedIdentities": [identity.id]}}
    group = f"{identity.id.split('/providers/')[0]}/providers/Microsoft.Compute/capacityReservationGroups/gpus"
    reserved = {"capacityReservationGroupID": group}

    def refused(pool: dict[str, str]) -> str:
        return str(azure_machine_rules.dissociation(Store(ready.state_file).read(), cluster, pool) or "")

    assert "LinkedAuthorizationFailed" in refused(reserved)
    assert not refused({})
    contributor = "b24988ac-6180-42a0-ab88-20f7382dd24c"
    ready.create(ROLE, granted(identity.old_outputs["principalId"], group, contributor))
    assert not refused(reserved)


def test_identity_gets_credentials_and_roles(ready: Account) -> None:
    identity = ready.create(IDENTITY, ml(resourceName="runs"))
    ready.create(FEDERATED, credential())
    with pytest.raises(AzureRefused, match="already exists for this Managed Identity"):
        ready.create(FEDERATED, credential(federatedIdentityCredentialResourceName="again"))
    scope = identity.id.split("/providers/")[0]
    role = granted(identity.old_outputs["principalId"], scope)
    assignment = ready.create(ROLE, {**role, "roleAssignmentName": NAME})
    assert assignment.id == f"{scope}/providers/Microsoft.Authorization/roleAssignments/{NAME}"
    for changes, code in (
        ({"roleAssignmentName": "acr-pull"}, "InvalidRoleAssignmentId"),
        ({"principalId": NAME}, "PrincipalNotFound"),
        ({"scope": scope + "2"}, "ResourceGroupNotFound"),
        ({"roleDefinitionId": "AcrPull"}, "RoleDefinitionDoesNotExist"),
        ({}, "RoleAssignmentExists"),
    ):
        assert refusal(ready.create, ROLE, {**role, **changes}).code == code


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


def test_kubelet_may_pull_once_its_cluster_is_up(ready: Account, registry: Resource) -> None:
    # A cluster made again has the same numbers here, so that the kubelet's is known before this one is up.
    inputs = {**CLUSTER_INPUTS, "resourceName": "two"}
    before = ready.create(CLUSTER, inputs)
    ready.provider.delete(before)
    ready.runtime.fails(OSError("no space left on device"))
    with pytest.raises(InitFailed) as failed:
        ready.create(CLUSTER, inputs)
    refused = refusal(ready.create, ROLE, granted(kubelet(before), registry.id))
    assert refused.code == "PrincipalNotFound"
    half = Resource(CLUSTER, "it", "urn", failed.value.id, old_inputs=inputs, old_outputs=failed.value.outputs)
    assert kubelet(ready.update(half, inputs)) == kubelet(before)
    assert ready.create(ROLE, granted(kubelet(before), registry.id)).old_outputs["scope"] == registry.id


def test_role_is_given_once(ready: Account, registry: Resource) -> None:
    cluster = ready.cluster(resourceName="two")
    role = granted(kubelet(cluster), registry.id)
    ready.create(ROLE, {**role, "roleAssignmentName": NAME})
    upper = granted("", "", ACR_PULL.upper())["roleDefinitionId"]
    spelled_out = f"/subscriptions/{azure_ids.SUBSCRIPTION}{upper}"
    for changes in ({}, {"roleDefinitionId": spelled_out}, {"scope": registry.id.upper()}):
        refused = refusal(ready.create, ROLE, {**role, **changes})
        assert (refused.status, refused.code) == (409, "RoleAssignmentExists")
        assert refused.message == (
            f"The role assignment already exists. The ID of the existing role assignment is {NAME.replace('-', '')}."
        )
    ready.create(ROLE, granted(kubelet(cluster), registry.id, OTHER_ROLE))
    ready.create(ROLE, granted(kubelet(cluster), registry.id.rsplit("/providers/", 1)[0]))


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
        refused = refusal(ready.create, ROLE, granted(azure_ids.USER_OBJECT, scope))
        assert refused.code == code, scope
    for scope in (
        registry.id,
        group,
        f"/subscriptions/{azure_ids.SUBSCRIPTION}",
        # Types that are not emulated are taken as existing.
        f"{group}/providers/Microsoft.ServiceBus/namespaces/mlevents",
        "/providers/Microsoft.Management/managementGroups/ml",
    ):
        assert ready.create(ROLE, granted(azure_ids.USER_OBJECT, scope)).id.startswith(scope)


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
    ready.create(ROLE, granted(principal, vault.id))


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
