"""User-assigned identities, their federated credentials, role assignments, and who holds a role.

The codes and texts of these services are those of their public documentation; the fact files do not hold them.
"""

import re
from collections.abc import Iterable, Sequence

from sandbox.azure import azure_conditions, azure_ids
from sandbox.azure.azure_errors import AzureRefused, arm
from sandbox.azure.resources import reference, roles
from sandbox.azure.resources.azure_resource_type import AzureType, merged, require_group, require_parent
from sandbox.cloud.state import Body, Record, Resources

IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
ROLE = "azure-native:authorization:RoleAssignment"

_MOST_CREDENTIALS = 20
_SEEDS = {"clientId": "client", "principalId": "principal"}

_GUID = re.compile(r"^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$", re.IGNORECASE)
_ROLE = re.compile(
    r"^(/subscriptions/[^/]+)?/providers/Microsoft\.Authorization/roleDefinitions/([^/]+)$", re.IGNORECASE
)


class UserAssignedIdentity(AzureType):
    """`Microsoft.ManagedIdentity/userAssignedIdentities`. Each one that is made is somebody else, also under an old name.

    Assignments of one that was deleted stay, and give nothing to its successor (page troubleshooting of
    role-based-access-control, "Role assignments with identity not found").
    """

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        body = super().put(resources, id, wanted, current)
        if current is not None:
            return body | {name: current[name] for name in _SEEDS}
        former = {record.body["principalId"] for record in resources.of_type(ROLE)}
        number = 1
        while body["principalId"] in former:
            number += 1
            body |= {name: azure_ids.guid(f"{seed} {number}", azure_ids.key(id)) for name, seed in _SEEDS.items()}
        return body


def too_many(others: Sequence[Record]) -> AzureRefused | None:
    """Return the refusal of another credential of an identity that has these."""
    if len(others) < _MOST_CREDENTIALS:
        return None
    # learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations; code and words are UNCONFIRMED
    text = f"A maximum of {_MOST_CREDENTIALS} federated identity credentials can be added to a managed identity."
    return arm("TooManyFederatedIdentityCredentials", text).as_read()


class FederatedCredential(AzureType):
    """`Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials`."""

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        require_group(resources, id)
        require_parent(resources, id, self.arm_type)
        body: Body = merged(current or {}, wanted)
        if not str(body["issuer"]).startswith("https://"):
            raise arm("BadRequest", "The issuer must be a valid https URL.")
        if len(body["audiences"]) != 1:
            raise arm("BadRequest", "Exactly one audience is allowed for a federated identity credential.")
        others = [
            r
            for r in resources.of_type(self.token, below=azure_ids.parent(id))
            if azure_ids.key(r.id) != azure_ids.key(id)
        ]
        if refused := too_many(others):
            raise refused
        for other in others:
            same = all(other.body[name] == body[name] for name in ("issuer", "subject"))
            if same:
                raise arm(
                    "Conflict", "Issuer and subject combination already exists for this Managed Identity.", status=409
                )
        return self.completed(id, body)


def principals(resources: Resources) -> set[str]:
    """Return the object ids the tenant knows: its user, every identity, and what resources made for themselves.

    A cluster's kubelet has an identity only once the cluster is finished.
    """
    known = {azure_ids.USER_OBJECT}
    known |= {r.body["principalId"] for r in resources.of_type(IDENTITY)}
    for record in resources.records.values():
        known.add(record.body.get("identity", {}).get("principalId", ""))
        known.add(record.body.get("identityProfile", {}).get("kubeletidentity", {}).get("objectId", ""))
    return known - {""}


class RoleAssignment(AzureType):
    """`Microsoft.Authorization/roleAssignments`, at any scope."""

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        if not _GUID.match(azure_ids.last(id)):
            text = f"The role assignment ID '{azure_ids.last(id)}' is not valid. The role assignment ID must be a GUID."
            raise arm("InvalidRoleAssignmentId", text)
        scope = reference.scope(id)
        reference.require_scope(resources, scope)
        body = merged(current or {}, wanted)
        role = _ROLE.match(body["roleDefinitionId"])
        if not role or not _GUID.match(role[2]):
            raise arm(
                "RoleDefinitionDoesNotExist",
                f"The specified role definition with ID '{body['roleDefinitionId']}' does not exist.",
            )
        if refused := unknown_role(resources, role[2]) or unreadable(body):
            raise refused
        principal = body["principalId"]
        # Users and groups may come from outside; an identity or cluster of this subscription is known here.
        # Without a type the service looks the principal up as well, so only a named User or Group passes unseen.
        if body.get("principalType") not in ("User", "Group", "ForeignGroup") and principal not in principals(
            resources
        ):
            text = f"Principal {principal.replace('-', '')} does not exist in the directory {azure_ids.TENANT}."
            raise arm("PrincipalNotFound", text)
        if current is not None and current["roleDefinitionId"] != body["roleDefinitionId"]:
            text = "Tenant ID, application ID, principal ID, and scope are not allowed to be updated."
            raise arm("RoleAssignmentUpdateNotPermitted", text, status=403)
        if current is None:
            self._require_new(resources, scope, body)
        return self.completed(id, {**self.service, **body, "scope": scope})

    def _require_new(self, resources: Resources, scope: str, body: Body) -> None:
        for other in resources.of_type(self.token):
            if azure_ids.key(other.body["scope"]) == azure_ids.key(scope) and _grant(other.body) == _grant(body):
                # As in a public log of 2026-08; before, the text ended after the first sentence.
                raise arm(
                    "RoleAssignmentExists",
                    "The role assignment already exists. The ID of the existing role assignment is "
                    f"{azure_ids.last(other.id).replace('-', '')}.",
                    status=409,
                )


def unknown_role(resources: Resources, guid: str) -> AzureRefused | None:
    return None if roles.known(resources, guid) else role_unknown(guid)


def role_unknown(guid: str) -> AzureRefused:
    # Page troubleshooting of role-based-access-control
    text = f"The specified role definition with ID '{guid.replace('-', '')}' does not exist."
    return arm("RoleDefinitionDoesNotExist", text, status=404)


def unreadable(body: Body) -> AzureRefused | None:
    """Return the refusal of a condition. Codes and words are UNCONFIRMED."""
    if not body.get("condition"):
        return None
    if body.get("conditionVersion") != "2.0":
        # REST reference of role assignments: the only value
        return arm("InvalidConditionVersion", "The condition version must be 2.0.").as_read()
    try:
        azure_conditions.parse_condition(body["condition"])
    except azure_conditions.Malformed as malformed:
        return arm("InvalidCondition", f"The condition is not valid: {malformed}.").as_read()
    return None


def _grant(body: Body) -> tuple[str, str]:
    """Return principal and role of an assignment. A role may be named with its subscription or without."""
    return body["principalId"].lower(), azure_ids.last(body["roleDefinitionId"]).lower()


def assigned(resources: Resources, identity: str) -> Record | None:
    """Return the user-assigned identity with this id."""
    record = resources.get(identity)
    return record if record and record.token == IDENTITY else None


def has_role(resources: Resources, identities: Iterable[str], role: str, scope: str) -> bool:
    """Return whether one of the identities has a built-in role, by its GUID, at a scope or above it."""
    records = [assigned(resources, identity) for identity in identities]
    principals = {record.body["principalId"].lower() for record in records if record is not None}
    return any(
        grant.body["principalId"].lower() in principals
        and azure_ids.last(grant.body["roleDefinitionId"]).lower() == role
        and (azure_ids.key(scope) + "/").startswith(azure_ids.key(grant.body["scope"]) + "/")
        for grant in resources.of_type(ROLE)
    )
