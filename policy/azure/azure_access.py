"""Roles of Azure, and storage accounts that need none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policy.declared import UNKNOWN, Declared, at
from policy.rule import Finding

_ASSIGNMENT = "azure-native:authorization:RoleAssignment"
_DEFINITION = "azure-native:authorization:RoleDefinition"
_ACCOUNT = "azure-native:storage:StorageAccount"
_CONTAINER = "azure-native:storage:BlobContainer"

_BROAD = {
    "8e3af657-a8ff-443c-a75c-2fe8c4bcb635": "Owner",
    "b24988ac-6180-42a0-ab88-20f7382dd24c": "Contributor",
    "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9": "User Access Administrator",
    "f58310d9-a9f6-439a-9e8d-f62e7b41a168": "Role Based Access Control Administrator",
    "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b": "Azure Kubernetes Service RBAC Cluster Admin",
    "0ab0b1a8-8aac-4efd-b8c2-3ee1fb270be8": "Azure Kubernetes Service Cluster Admin Role",
}
"""https://learn.microsoft.com/azure/role-based-access-control/built-in-roles"""
_WIDE = re.compile(
    r"/subscriptions/[^/]+(/resourcegroups/[^/]+)?/?|/providers/microsoft\.management/.*|/",
    re.IGNORECASE,
)
"""A subscription, a resource group, a management group or the tenant."""
_PEOPLE = ("user", "group")


def broad_roles(declared: Declared) -> Iterator[Finding]:
    """Yield broad roles of a subscription or group for programs, and roles with every action."""
    if declared.type == _DEFINITION:
        yield from _definition(declared)
    if declared.type != _ASSIGNMENT:
        return
    role, scope, who = (
        declared.get(name) for name in ("roleDefinitionId", "scope", "principalType")
    )
    title = _BROAD.get(str(role).rpartition("/")[2].lower())
    if who is UNKNOWN or str(who).lower() in _PEOPLE:
        return
    if title and isinstance(scope, str) and _WIDE.fullmatch(scope):
        yield Finding(
            "roleDefinitionId",
            f"{title} of a whole subscription or group",
            "give the identity a narrower role, or the role on one resource",
        )


def _definition(declared: Declared) -> Iterator[Finding]:
    permissions = declared.get("permissions")
    for index, permission in enumerate(permissions if isinstance(permissions, list) else ()):
        actions = at(permission, "actions")
        if isinstance(actions, list) and "*" in actions:
            yield Finding(
                f"permissions[{index}].actions",
                "every action is allowed",
                "list the actions that are needed",
            )


def open_storage(declared: Declared) -> Iterator[Finding]:
    """Yield accounts and containers with public access or access by key, which needs no role."""
    if declared.type == _ACCOUNT:
        public, keys = declared.get("allowBlobPublicAccess"), declared.get("allowSharedKeyAccess")
        if public is not UNKNOWN and public:
            yield Finding(
                "allowBlobPublicAccess",
                "containers may allow public access",
                "set it to false",
            )
        if keys not in (False, UNKNOWN):
            yield Finding(
                "allowSharedKeyAccess",
                "the account's keys bypass roles",
                "set it to false",
            )
    if declared.type == _CONTAINER and declared.get("publicAccess") not in (None, "None", UNKNOWN):
        problem = "everybody on the internet can read it"
        yield Finding("publicAccess", problem, "set it to None, and give roles")
