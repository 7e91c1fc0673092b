"""Whether a principal may do something with blobs: role assignments at the scope or above it, their roles, their conditions.

learn.microsoft.com/azure/role-based-access-control/overview, "How Azure RBAC determines if a user has access to a resource"; what
an operation asks for stands in `data/roles.toml`. Deny assignments, groups and keys of accounts are not known here.
"""

from dataclasses import dataclass

from sandbox.azure import azure_conditions, azure_ids
from sandbox.azure.resources import roles
from sandbox.azure.resources.azure_identity import ROLE
from sandbox.cloud.facts import tables
from sandbox.cloud.state import Record, Resources

_CONTAINERS = "Microsoft.Storage/storageAccounts/blobServices/containers"


@dataclass(frozen=True)
class Attempt:
    """A request at the blob service of an account."""

    operation: str
    """Such as Get Blob; `data/roles.toml` lists them."""
    account: str
    """The account's id."""
    container: str = ""
    blob: str = ""
    prefix: str = ""
    """The parameter of List Blobs; empty where the request has none."""


def allowed(resources: Resources, principal: str, attempt: Attempt) -> bool:
    """Return whether the principal with this object id may. Raises KeyError for an operation or a role that is not known here."""
    operation = tables("azure", "roles")["operations"][attempt.operation]
    if resources.get(attempt.account) is None:
        return False
    data = "data" in operation
    actions = [f"{_CONTAINERS}/{end}" for end in operation.get("data", operation.get("actions", ()))]
    actions += operation.get("whole", ())
    return any(
        _grants(resources, assignment, action, data=data, attempt=attempt, suboperation=operation.get("sub", ""))
        for assignment in resources.of_type(ROLE)
        if assignment.body["principalId"].lower() == principal.lower() and _covers(assignment, attempt, operation["at"])
        for action in actions
    )


def _covers(assignment: Record, attempt: Attempt, at: str) -> bool:
    target = attempt.account
    if at != "account":
        target += f"/blobServices/default/containers/{attempt.container}"
    return (azure_ids.key(target) + "/").startswith(azure_ids.key(assignment.body["scope"]) + "/")


def _grants(
    resources: Resources, assignment: Record, action: str, *, data: bool, attempt: Attempt, suboperation: str
) -> bool:
    guid = azure_ids.last(assignment.body["roleDefinitionId"])
    if not any(part.allow(action, data=data) for part in roles.permissions(resources, guid)):
        return False
    text = assignment.body.get("condition")
    if not text:
        return True
    # A list names a prefix and no blob (page storage-auth-abac-attributes, "Blob path" and "Blob prefix").
    resource = {"Microsoft.Storage/storageAccounts:name": azure_ids.last(attempt.account)}
    if attempt.container:
        resource[f"{_CONTAINERS}:name"] = attempt.container
    if attempt.blob:
        resource[f"{_CONTAINERS}/blobs:path"] = attempt.blob
    request = {f"{_CONTAINERS}/blobs:prefix": attempt.prefix} if suboperation == "Blob.List" else {}
    return azure_conditions.parse_condition(text)(azure_conditions.Asked(action, suboperation, resource, request))
