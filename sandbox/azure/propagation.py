"""Replication: what Azure has just made is not known to all of its parts, and the first requests that name it are refused.

- A role assignment of a new role definition: `RoleDefinitionDoesNotExist` (page troubleshooting of role-based-access-control has
  code and words; hashicorp/terraform-provider-azurerm issue 19916).
- A federated credential of a new identity: `ParentResourceNotFound` (openshift/cloud-credential-operator pull request 878), or
  "MS Graph resource not found" (Azure/Azure-Verified-Modules pull request 2673, hashicorp/terraform-provider-azurerm issue
  32179). The code of the latter is UNCONFIRMED.

azure-native asks again after neither (its client_azcore.go). In Azure it takes seconds to minutes. Here it is a number of requests,
in the memory of one provider: the next command meets what is known everywhere.
"""

from collections.abc import Callable, Sequence
from threading import Lock

from sandbox.azure import azure_errors, azure_ids
from sandbox.azure.azure_errors import AzureRefused
from sandbox.azure.resources.azure_identity import IDENTITY, ROLE, role_unknown
from sandbox.azure.resources.roles import DEFINITION
from sandbox.cloud.state import Body

FEDERATED = "azure-native:managedidentity:FederatedIdentityCredential"


def _graph(identity: str) -> AzureRefused:
    return azure_errors.arm(
        "NotFound", "MS Graph resource not found during Federated Identity Credential creation.", status=404
    )


def _parent(identity: str) -> AzureRefused:
    return azure_errors.parent_not_found(
        "userAssignedIdentities/federatedIdentityCredentials", azure_ids.last(identity)
    )


_OF_AN_IDENTITY: tuple[Callable[[str], AzureRefused], ...] = (_parent, _graph)
_OF_A_ROLE: tuple[Callable[[str], AzureRefused], ...] = (role_unknown, role_unknown)


class Propagation:
    """What a provider has made, and the refusals that are still due for each."""

    def __init__(self) -> None:
        self._due: dict[str, list[Callable[[str], AzureRefused]]] = {}
        self._lock = Lock()

    def made(self, token: str, id: str) -> None:
        """Note a resource that was just made."""
        refusals: Sequence[Callable[[str], AzureRefused]] = {IDENTITY: _OF_AN_IDENTITY, DEFINITION: _OF_A_ROLE}.get(
            token, ()
        )
        with self._lock:
            self._due[self._key(token, id)] = list(refusals)

    def admit(self, token: str, id: str, wanted: Body) -> None:
        """Raise the next refusal of a request that names what is not known everywhere."""
        if token == ROLE:
            named = str(wanted.get("roleDefinitionId", ""))
            due = self._key(DEFINITION, named)
        elif token == FEDERATED:
            named = azure_ids.parent(id)
            due = self._key(IDENTITY, named)
        else:
            return
        with self._lock:
            refusals = self._due.get(due)
            if refusals:
                raise refusals.pop(0)(azure_ids.last(named))

    @staticmethod
    def _key(token: str, id: str) -> str:
        # An assignment names a role with its subscription, and the role's own id is at its scope.
        return f"{token} {azure_ids.last(id).lower() if token == DEFINITION else azure_ids.key(id)}"
