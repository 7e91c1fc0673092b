"""Roles of Google Cloud, and buckets that need none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from policy.declared import UNKNOWN, Declared, at
from policy.gcp.gcp_pools import CLUSTER, POOL, declared_pools
from policy.rule import Finding

_GRANT = re.compile(r"gcp:(?P<of>\w+)/\w*iam(member|binding|policy):\w+", re.IGNORECASE)
"""The three types with which each kind of resource is shared."""
_BUCKET = "gcp:storage/bucket:Bucket"
_ABOVE = ("folder", "organizations")

_BROAD = {
    "roles/owner": "nearly every right",
    "roles/editor": "nearly every right",
    "roles/container.admin": "everything inside every cluster",
    "roles/container.clusterAdmin": "the change of every cluster",
    "roles/compute.admin": "every machine and network",
    "roles/compute.instanceAdmin.v1": "every machine",
    "roles/iam.securityAdmin": "the right to give itself any role",
    "roles/iam.roleAdmin": "the right to widen roles",
    "roles/iam.serviceAccountAdmin": "the right to become any service account",
    "roles/iam.serviceAccountKeyAdmin": "the right to become any service account",
    "roles/iam.serviceAccountTokenCreator": "the right to become any service account",
    "roles/iam.serviceAccountUser": "the right to run as any service account",
    "roles/iam.workloadIdentityUser": "the right to become any service account",
    "roles/resourcemanager.projectIamAdmin": "the right to give itself any role",
    "roles/resourcemanager.folderIamAdmin": "the right to give itself any role",
    "roles/resourcemanager.folderAdmin": "the right to give itself any role",
    "roles/resourcemanager.organizationAdmin": "the right to give itself any role",
    "roles/storage.admin": "every bucket, the state of stacks among them",
}
"""https://docs.cloud.google.com/iam/docs/roles-overview#basic; roles that lead to more rights:
https://docs.cloud.google.com/iam/docs/best-practices-for-securing-service-accounts"""
_PEOPLE = re.compile(
    r"(user|group|domain):.*"
    r"|principal(Set)?://iam\.googleapis\.com/locations/[^/]+/workforcePools/.*"
)
"""Workload identity pools hold programs, not people (iam/docs/principal-identifiers)."""
_EVERYBODY = ("allUsers", "allAuthenticatedUsers")

_DEFAULT = re.compile(r"(default|\d+-compute@developer\.gserviceaccount\.com)?")
_EVERYTHING = ("cloud-platform", "https://www.googleapis.com/auth/cloud-platform")


def broad_roles(declared: Declared) -> Iterator[Finding]:
    """Yield broad roles for programs or above the project, and nodes with the default account."""
    if declared.type in (POOL, CLUSTER):
        yield from _default_accounts(declared)
    grant = _GRANT.fullmatch(declared.type)
    if not grant or grant["of"] not in ("projects", *_ABOVE):
        return
    above = grant["of"] in _ABOVE
    for path, _, role, members in _bindings(declared):
        if role in _BROAD and any(_is_given(member, above) for member in members):
            where = "below a folder or in the organization" if above else "in the project"
            yield Finding(
                path,
                f"{_BROAD[role]} {where}",
                "give nodes only roles/container.defaultNodeServiceAccount",
            )


def roles_for_everybody(declared: Declared) -> Iterator[Finding]:
    """Yield roles for everybody on the internet."""
    if not _GRANT.fullmatch(declared.type):
        return
    for _, path, _, members in _bindings(declared):
        if any(member in _EVERYBODY for member in members):
            yield Finding(path, "everybody on the internet has the role", "name its members")


def _is_given(member: Any, above: bool) -> bool:
    """Return whether this member must not have a broad role; everybody is another rule's."""
    if not isinstance(member, str) or member in _EVERYBODY:
        return False
    return above or not _PEOPLE.fullmatch(member)


def _bindings(declared: Declared) -> Iterator[tuple[str, str, Any, list[Any]]]:
    """Yield each binding: paths of the role and of the members, the role, the members."""
    policy = declared.get("policyData")
    if isinstance(policy, str):
        try:
            listed = at(json.loads(policy), "bindings")
        except ValueError:
            listed = None
        for binding in listed if isinstance(listed, list) else ():
            yield "policyData", "policyData", at(binding, "role"), _list(at(binding, "members"))
    else:
        members = declared.get("members")
        if isinstance(members, list):
            yield "role", "members", declared.get("role"), members
        else:
            yield "role", "member", declared.get("role"), [declared.get("member")]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _default_accounts(declared: Declared) -> Iterator[Finding]:
    for at_path, pool in declared_pools(declared):
        account, scopes = at(pool, "nodeConfig.serviceAccount"), at(pool, "nodeConfig.oauthScopes")
        own = account is UNKNOWN or not _DEFAULT.fullmatch(account or "")
        if not own and any(scope in _EVERYTHING for scope in _list(scopes)):
            yield Finding(
                f"{at_path}nodeConfig.serviceAccount",
                "nodes have the project's default account with every scope",
                "make an account with roles/container.defaultNodeServiceAccount, and name it here",
            )


def open_storage(declared: Declared) -> Iterator[Finding]:
    """Yield buckets that may allow public access, or whose objects have access lists."""
    if declared.type != _BUCKET:
        return
    if declared.get("publicAccessPrevention") not in ("enforced", UNKNOWN):
        yield Finding("publicAccessPrevention", "a grant may make it public", "set it to enforced")
    if declared.get("uniformBucketLevelAccess") not in (True, UNKNOWN):
        yield Finding(
            "uniformBucketLevelAccess",
            "access lists of objects bypass the bucket's policy",
            "set it to true",
        )
