"""Identities: federated credentials and roles."""

from __future__ import annotations

import pytest

from sandbox.azure.azure_errors import AzureRefused
from sandbox.azure.azure_operations import CredentialWrites, Propagation
from sandbox.azure.azure_plugin import PLUGIN
from sandbox.azure.azure_provider import AzureProvider
from sandbox.azure.resources import azure_machine_rules
from sandbox.cloud.state import Store

from .conftest import FEDERATED, IDENTITY, ROLE, Account, ml, refusal

GUID = "7f951dda-4ed3-4680-a7ca-43fe172d538d"


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
    role = {"principalId": identity.old_outputs["principalId"], "principalType": "ServicePrincipal", "scope": scope}
    ready.create(ROLE, {**role, "roleDefinitionId": f"/providers/Microsoft.Authorization/roleDefinitions/{GUID}"})
    federated = ml(
        resourceName="runs",
        federatedIdentityCredentialResourceName="pipelines",
        issuer="https://example.com/",
        subject="system:serviceaccount:a:b",
        audiences=["a"],
    )
    ours = f"/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/{own.id.rpartition('/')[2]}"
    for token, inputs, refusals in (
        (FEDERATED, federated, ("ParentResourceNotFound", "MS Graph resource not found")),
        (ROLE, {**role, "roleDefinitionId": ours}, ("RoleDefinitionDoesNotExist", "RoleDefinitionDoesNotExist")),
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
        definition = f"/providers/Microsoft.Authorization/roleDefinitions/{GUID}"
        scope = identity.id.split("/providers/")[0]
        role = {
            "principalId": principal,
            "principalType": "ServicePrincipal",
            "roleDefinitionId": definition,
            "scope": scope,
        }
        ready.create(ROLE, role)
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
    definition = "/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c"
    principal = {"principalId": identity.old_outputs["principalId"], "principalType": "ServicePrincipal"}
    ready.create(ROLE, {**principal, "roleDefinitionId": definition, "scope": group})
    assert not refused(reserved)


def test_identity_gets_credentials_and_roles(ready: Account) -> None:
    identity = ready.create(IDENTITY, ml(resourceName="runs"))
    federated = ml(
        resourceName="runs",
        federatedIdentityCredentialResourceName="pipelines",
        issuer="https://westeurope.oic.prod-aks.azure.com/t/i/",
        subject="system:serviceaccount:kubeflow:pipeline-runner",
        audiences=["api://AzureADTokenExchange"],
    )
    ready.create(FEDERATED, federated)
    with pytest.raises(AzureRefused, match="already exists for this Managed Identity"):
        ready.create(FEDERATED, {**federated, "federatedIdentityCredentialResourceName": "again"})
    with pytest.raises(AzureRefused, match="ParentResourceNotFound"):
        ready.create(FEDERATED, {**federated, "resourceName": "no"})

    role = {
        "principalId": identity.old_outputs["principalId"],
        "principalType": "ServicePrincipal",
        "roleDefinitionId": f"/providers/Microsoft.Authorization/roleDefinitions/{GUID}",
        "scope": identity.id.split("/providers/")[0],
        "roleAssignmentName": GUID,
    }
    assignment = ready.create(ROLE, role)
    assert assignment.id == f"{role['scope']}/providers/Microsoft.Authorization/roleAssignments/{GUID}"
    other = {k: v for k, v in role.items() if k != "roleAssignmentName"}
    for changes, code in (
        ({"roleAssignmentName": "acr-pull"}, "InvalidRoleAssignmentId"),
        ({"principalId": GUID}, "PrincipalNotFound"),
        ({"scope": role["scope"] + "2"}, "ResourceGroupNotFound"),
        ({"roleDefinitionId": "AcrPull"}, "RoleDefinitionDoesNotExist"),
        ({}, "RoleAssignmentExists"),
    ):
        assert refusal(ready.create, ROLE, {**other, **changes}).code == code
