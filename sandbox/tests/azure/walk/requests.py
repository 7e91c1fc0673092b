"""Requests of the walk's rows."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from sandbox.azure import azure_ids
from sandbox.azure.resources.azure_table import TYPES
from sandbox.cloud.provider import Resource

from ..conftest import CLUSTER, CLUSTER_INPUTS, IDENTITY, POOL, ROLE, Account, Props


@dataclass(frozen=True)
class Put:
    """A PUT of a resource: a create, or an update where it exists."""

    token: str
    inputs: Props

    def __call__(self, account: Account) -> None:
        wanted = Resource(self.token, "it", "urn:it", inputs=account.check(self.token, self.inputs))
        id = TYPES[self.token].id(azure_ids.SUBSCRIPTION, wanted.inputs)
        if account.cloud.get(id) is None:
            account.provider.create(wanted)
        else:
            account.provider.update(dataclasses.replace(wanted, id=id, old_inputs=wanted.inputs))


@dataclass(frozen=True)
class Delete:
    """A DELETE of a pool of the cluster `aks`."""

    pool: str

    def __call__(self, account: Account) -> None:
        account.cloud.delete(id_of(POOL, resourceGroupName="ml", resourceName="aks", agentPoolName=self.pool))


def id_of(token: str, **parameters: str) -> str:
    return TYPES[token].id(azure_ids.SUBSCRIPTION, parameters)


GROUP = f"/subscriptions/{azure_ids.SUBSCRIPTION}/resourceGroups/ml"
CONTROL = id_of(IDENTITY, resourceGroupName="ml", resourceName="control")
OWN = {"type": "UserAssigned", "userAssignedIdentities": [CONTROL]}
"""The identity `control` of the walk's world."""
GUID = "11111111-1111-4111-8111-111111111111"


def cluster(**changes: Any) -> Put:
    """Put a new cluster `two` beside `aks`."""
    return Put(CLUSTER, {**CLUSTER_INPUTS, "resourceName": "two", **changes})


def pool(base: Props, **changes: Any) -> Put:
    return Put(POOL, {**base, **changes})


def granted(role: str, scope: str, name: str = GUID) -> Put:
    """Give a role to the identity `control`."""
    principal = azure_ids.guid("principal", azure_ids.key(CONTROL))
    definition = f"/providers/Microsoft.Authorization/roleDefinitions/{role}"
    grant = {"principalId": principal, "principalType": "ServicePrincipal", "roleDefinitionId": definition}
    return Put(ROLE, {**grant, "scope": scope, "roleAssignmentName": name})
