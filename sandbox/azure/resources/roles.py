"""Role definitions: the built-in ones that are known here, and those of the subscription.

Codes are those of learn.microsoft.com/azure/role-based-access-control, page troubleshooting.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from sandbox.azure import azure_ids
from sandbox.azure.azure_errors import AzureRefused, arm
from sandbox.azure.resources import reference
from sandbox.azure.resources.azure_resource_type import AzureType, merged
from sandbox.cloud import rules
from sandbox.cloud.facts import tables
from sandbox.cloud.rules import ResourceRequest
from sandbox.cloud.state import Body, Record, Resources

DEFINITION = "azure-native:authorization:RoleDefinition"
_ASSIGNMENT = "azure-native:authorization:RoleAssignment"

_ASSIGNABLE = re.compile(
    r"/subscriptions/[^/]+(/resourcegroups/[^/]+)?|/providers/microsoft\.management/managementgroups/[^/]+",
    re.IGNORECASE,
)
"""Page role-definitions, "AssignableScopes": a single resource is none of them."""


@dataclass(frozen=True)
class Permissions:
    """What a role allows: patterns of actions, and of actions on data."""

    actions: tuple[str, ...] = ()
    not_actions: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    not_data: tuple[str, ...] = ()

    def allow(self, action: str, *, data: bool) -> bool:
        given, taken = (self.data, self.not_data) if data else (self.actions, self.not_actions)
        return _matches(action, given) and not _matches(action, taken)


def _matches(action: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(action.lower(), pattern.lower()) for pattern in patterns)


def defined(resources: Resources, guid: str) -> Record | None:
    """Return the role of the subscription with this GUID."""
    return next((r for r in resources.of_type(DEFINITION) if azure_ids.last(r.id).lower() == guid.lower()), None)


def known(resources: Resources, guid: str) -> bool:
    """Return whether there is such a role, built-in or of the subscription."""
    return guid.lower() in tables("azure", "roles")["roles"] or defined(resources, guid) is not None


def permissions(resources: Resources, guid: str) -> list[Permissions]:
    """Return what a role allows. Raises KeyError for a built-in one of which the sandbox knows the name only."""
    record = defined(resources, guid)
    if record is None:
        role = tables("azure", "roles")["roles"][guid.lower()]
        return [Permissions(actions=tuple(role["actions"]), data=tuple(role["dataActions"]))]
    return [
        Permissions(*(tuple(part.get(name, ())) for name in ("actions", "notActions", "dataActions", "notDataActions")))
        for part in record.body["permissions"]
    ]


@rules.as_read
def guid_form(request: ResourceRequest) -> AzureRefused | None:
    # As of an assignment
    if azure_ids.GUID.fullmatch(azure_ids.last(request.id)):
        return None
    text = f"The role definition ID '{azure_ids.last(request.id)}' is not valid. The role definition ID must be a GUID."
    return arm("InvalidRoleDefinitionId", text)


@rules.as_read
def assignable(request: ResourceRequest) -> AzureRefused | None:
    # The page says what scopes there are; code and words are UNCONFIRMED
    for scope in request.body.get("assignableScopes") or [""]:
        if not _ASSIGNABLE.fullmatch(scope):
            return arm("InvalidAssignableScope", f"The assignable scope '{scope}' is not valid.")
    return None


def actions_exist(request: ResourceRequest) -> AzureRefused | None:
    """Refuse an unknown action of storage; of other services the sandbox knows none."""
    listed = tables("azure", "roles")["blobActions"]
    kinds = ((("actions", "notActions"), listed["actions"]), (("dataActions", "notDataActions"), listed["data"]))
    for part in request.body["permissions"]:
        for names, actions in kinds:
            for action in (action for name in names for action in part.get(name) or ()):
                if action.lower().startswith("microsoft.storage/") and not any(_matches(a, [action]) for a in actions):
                    # Page troubleshooting, "Custom roles"
                    text = f"'{action}' does not match any of the actions supported by the providers."
                    return arm("InvalidActionOrNotAction", text)
    return None


def name_is_new(request: ResourceRequest) -> AzureRefused | None:
    # Kong/developer.konghq.com, page on gateway peering, has code and words.
    name, own = request.body["roleName"].lower(), azure_ids.key(request.id)
    others = {r.body["roleName"].lower() for r in request.resources.of_type(DEFINITION) if azure_ids.key(r.id) != own}
    if name not in others:
        return None
    text = "A custom role with the same name already exists in this directory. Use a different name."
    return arm("RoleDefinitionWithSameNameExists", text, status=409)


RULES: tuple[Callable[[ResourceRequest], AzureRefused | None], ...] = (
    *(guid_form, assignable, actions_exist, name_is_new),
)


class RoleDefinition(AzureType):
    """`Microsoft.Authorization/roleDefinitions`."""

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        reference.require_scope(resources, reference.scope(id))
        body: Body = merged(self.service, merged(current or {}, wanted))
        rules.raise_first(RULES, ResourceRequest(id, wanted, body, current, resources))
        return self.completed(id, body)

    def check_delete(self, resources: Resources, id: str) -> None:
        if assigned := in_use(resources, id):
            raise assigned


def in_use(resources: Resources, id: str) -> AzureRefused | None:
    guid = azure_ids.last(id).lower()
    if not any(azure_ids.last(r.body["roleDefinitionId"]).lower() == guid for r in resources.of_type(_ASSIGNMENT)):
        return None
    # Page custom-roles, "Custom role deletion"
    return arm("RoleDefinitionHasAssignments", "There are existing role assignments referencing role.")
