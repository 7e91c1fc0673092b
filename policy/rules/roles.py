"""What nodes and workloads may do outside their own pod."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from policy import gcp
from policy.declared import UNKNOWN, Declared, at
from policy.rule import Finding, Rule, Settings

_ASSIGNMENT = "azure-native:authorization:RoleAssignment"
_BROAD = {
    "8e3af657-a8ff-443c-a75c-2fe8c4bcb635": "Owner",
    "b24988ac-6180-42a0-ab88-20f7382dd24c": "Contributor",
    "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9": "User Access Administrator",
    "f58310d9-a9f6-439a-9e8d-f62e7b41a168": "Role Based Access Control Administrator",
}
"""https://learn.microsoft.com/azure/role-based-access-control/built-in-roles/privileged"""
_WIDE = re.compile(
    r"/subscriptions/[^/]+(/resourcegroups/[^/]+)?/?|/providers/microsoft\.management/.*|/", re.IGNORECASE
)
"""A subscription, a resource group, a management group or the tenant: everything that is there, and comes there later."""
_PEOPLE = ("user", "group")

_MEMBER = "gcp:projects/iAMMember:IAMMember"
_BINDING = "gcp:projects/iAMBinding:IAMBinding"
_BASIC = ("roles/owner", "roles/editor")
"""https://docs.cloud.google.com/iam/docs/roles-overview#basic"""
_GOOGLES_PEOPLE = ("user:", "group:", "domain:", "principal:", "principalSet:")

_DEFAULT = re.compile(r"(default|\d+-compute@developer\.gserviceaccount\.com)?")
_EVERYTHING = ("cloud-platform", "https://www.googleapis.com/auth/cloud-platform")

_CLUSTER_BINDING = re.compile(r"kubernetes:rbac\.authorization\.k8s\.io/v\w+:ClusterRoleBinding(Patch)?")
_EVERY_WORKLOAD = re.compile(r"system:(authenticated|unauthenticated|nodes|serviceaccounts(:.+)?)")


def _check(declared: Declared, settings: Settings) -> Iterator[Finding]:
    if declared.type == _ASSIGNMENT:
        yield from _azure(declared)
    elif declared.type in (_MEMBER, _BINDING):
        yield from _google(declared)
    elif declared.type in (gcp.POOL, gcp.CLUSTER):
        yield from _nodes(declared)
    elif _CLUSTER_BINDING.fullmatch(declared.type):
        yield from _kubernetes(declared)


def _azure(declared: Declared) -> Iterator[Finding]:
    role, scope, who = (declared.get(name) for name in ("roleDefinitionId", "scope", "principalType"))
    title = _BROAD.get(str(role).rpartition("/")[2].lower())
    if who is UNKNOWN or str(who).lower() in _PEOPLE:
        return
    if title and isinstance(scope, str) and _WIDE.fullmatch(scope):
        yield Finding(
            "roleDefinitionId",
            f"{title} of a whole subscription or group",
            "give the identity the role it needs at the one resource it needs it for",
        )


def _google(declared: Declared) -> Iterator[Finding]:
    if declared.get("role") not in _BASIC:
        return
    found = declared.get("members") if declared.type == _BINDING else [declared.get("member")]
    members = found if isinstance(found, list) else []
    if any(isinstance(member, str) and not member.startswith(_GOOGLES_PEOPLE) for member in members):
        yield Finding(
            "role",
            "nearly every right in the project",
            "give nodes roles/container.defaultNodeServiceAccount, and no more",
        )


def _nodes(declared: Declared) -> Iterator[Finding]:
    for at_path, pool in gcp.written(declared):
        account, scopes = at(pool, "nodeConfig.serviceAccount"), at(pool, "nodeConfig.oauthScopes")
        if account is UNKNOWN or not _DEFAULT.fullmatch(account or "") or not isinstance(scopes, list):
            continue
        if any(scope in _EVERYTHING for scope in scopes):
            yield Finding(
                f"{at_path}nodeConfig.serviceAccount",
                "the project's default account, with every scope",
                "make an account with roles/container.defaultNodeServiceAccount, and name it here",
            )


def _kubernetes(declared: Declared) -> Iterator[Finding]:
    if declared.get("roleRef.name") != "cluster-admin":
        return
    subjects = declared.get("subjects")
    for index, subject in enumerate(subjects if isinstance(subjects, list) else ()):
        if _is_workload(subject):
            yield Finding(
                f"subjects[{index}]",
                "whoever gets into one such pod has the cluster",
                "bind a ClusterRole with the verbs and resources that are needed",
            )


def _is_workload(subject: Any) -> bool:
    kind, name = at(subject, "kind"), at(subject, "name")
    return kind == "ServiceAccount" or (isinstance(name, str) and bool(_EVERY_WORKLOAD.fullmatch(name)))


ROLES = Rule(
    name="broad-role",
    refuses="Rights over everything for nodes or workloads",
    reason="A pod that escapes to its node has the node's rights: enough to be a node must be all they are",
    sources=(
        "https://docs.cloud.google.com/kubernetes-engine/docs/how-to/hardening-your-cluster",
        "https://learn.microsoft.com/azure/role-based-access-control/best-practices",
        "https://kubernetes.io/docs/concepts/security/rbac-good-practices/",
    ),
    check=_check,
)
