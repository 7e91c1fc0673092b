"""The identity `control` of the walk's subscription, and roles for it."""

from __future__ import annotations

from sandbox.azure import azure_ids

from ..conftest import IDENTITY, ROLE, Account
from .row import Put, Step, id_of

GROUP = f"/subscriptions/{azure_ids.SUBSCRIPTION}/resourceGroups/ml"
CONTROL = id_of(IDENTITY, resourceGroupName="ml", resourceName="control")
OWN = {"type": "UserAssigned", "userAssignedIdentities": [CONTROL]}
GUID = "11111111-1111-4111-8111-111111111111"


def granted(role: str, scope: str, name: str = GUID) -> Put:
    """A role for the identity `control`."""
    principal = azure_ids.guid("principal", azure_ids.key(CONTROL))
    definition = f"/providers/Microsoft.Authorization/roleDefinitions/{role}"
    grant = {"principalId": principal, "principalType": "ServicePrincipal", "roleDefinitionId": definition}
    return Put(ROLE, {**grant, "scope": scope, "roleAssignmentName": name})


def both(first: Step, then: Step) -> Step:
    def steps(account: Account) -> None:
        first(account)
        then(account)

    return steps
