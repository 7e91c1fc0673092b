"""Roles: broad ones for nodes and workloads, and any for everybody."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from policy.clouds import check_of_clouds
from policy.declared import UNKNOWN, Declared, at
from policy.rule import Finding, Rule, Settings, texts

_BINDING = re.compile(
    r"kubernetes:rbac\.authorization\.k8s\.io/v\w+:(?P<kind>Cluster)?RoleBinding(Patch)?"
)
_CLUSTER_ROLE = re.compile(r"kubernetes:rbac\.authorization\.k8s\.io/v\w+:ClusterRole(Patch)?")
_EVERY_WORKLOAD = re.compile(r"system:(nodes?(:.+)?|serviceaccounts?(:.+)?)")
_MASTERS = "system:masters"
_EVERYBODY = ("system:anonymous", "system:unauthenticated", "system:authenticated")
"""On GKE the last group is everybody with a Google account (CIS GKE 4.1.10)."""


def _broad_role(declared: Declared, settings: Settings) -> Iterator[Finding]:
    yield from check_of_clouds(BROAD_ROLE.name)(declared, settings)
    if _is_allowed(declared, settings["allowed"]):
        return
    if _CLUSTER_ROLE.fullmatch(declared.type):
        yield from _everything(declared)
    binding = _BINDING.fullmatch(declared.type)
    if not binding:
        return
    # All rights in kube-system include the accounts of the cluster's controllers.
    everything = bool(binding["kind"]) or declared.get("metadata.namespace") == "kube-system"
    admin = everything and declared.get("roleRef.name") == "cluster-admin"
    for path, subject in _subjects(declared):
        if at(subject, "name") == _MASTERS:
            problem = "nobody can take away the group's rights"
            yield Finding(path, problem, "bind the role to a group of your own")
        elif admin and _is_workload(subject):
            yield Finding(path, "an intruder in one such pod has the cluster", _narrow("bind"))


def _everything(declared: Declared) -> Iterator[Finding]:
    rules = declared.get("rules")
    for index, rule in enumerate(rules if isinstance(rules, list) else ()):
        listed = [at(rule, name) for name in ("apiGroups", "resources", "verbs")]
        if all(isinstance(values, list) and "*" in values for values in listed):
            yield Finding(f"rules[{index}]", "every verb on every resource", _narrow("list"))


def _narrow(verb: str) -> str:
    return f"{verb} only the verbs and resources that are needed, or {_add_name(BROAD_ROLE)}"


def _everybody(declared: Declared, settings: Settings) -> Iterator[Finding]:
    yield from check_of_clouds(EVERYBODY.name)(declared, settings)
    if not _BINDING.fullmatch(declared.type) or _is_allowed(declared, settings["allowed"]):
        return
    kind, role = declared.get("roleRef.kind"), declared.get("roleRef.name")
    if settings["roles"] and UNKNOWN in (kind, role):
        return
    if kind == "ClusterRole" and _matches(role, settings["roles"]):
        return
    for path, subject in _subjects(declared):
        if at(subject, "name") in _EVERYBODY:
            remedy = f"name a group of your own, or {_add_name(EVERYBODY)}"
            yield Finding(path, "everybody who reaches the API server has the role", remedy)


def _is_allowed(declared: Declared, patterns: Sequence[str]) -> bool:
    """Return whether a setting allows this object; an unknown name may be allowed."""
    name, namespace = declared.get("metadata.name"), declared.get("metadata.namespace")
    binding = _BINDING.fullmatch(declared.type)
    if not binding or binding["kind"]:
        return bool(patterns) if name is UNKNOWN else _matches(name, patterns)
    if UNKNOWN in (name, namespace):
        return bool(patterns)
    return _matches(f"{namespace or 'default'}/{name}", patterns)


def _matches(name: Any, patterns: Sequence[str]) -> bool:
    """Return whether a pattern matches NAME, or NAMESPACE/NAME: `*` does not match `a/b`."""
    return isinstance(name, str) and any(
        fnmatchcase(name, pattern) and pattern.count("/") == name.count("/") for pattern in patterns
    )


def _add_name(rule: Rule) -> str:
    return f"add its name to `allowed` of {rule.name}"


def _subjects(declared: Declared) -> Iterator[tuple[str, Any]]:
    subjects = declared.get("subjects")
    for index, subject in enumerate(subjects if isinstance(subjects, list) else ()):
        yield f"subjects[{index}]", subject


def _is_workload(subject: Any) -> bool:
    kind, name = at(subject, "kind"), at(subject, "name")
    return kind == "ServiceAccount" or (
        isinstance(name, str) and bool(_EVERY_WORKLOAD.fullmatch(name))
    )


_ALLOWED = texts(
    [],
    "Names of ClusterRoles and ClusterRoleBindings, and NAMESPACE/NAME of RoleBindings, that may;"
    " `*` stands for any text without `/`.",
)

BROAD_ROLE = Rule(
    name="broad-role",
    refuses="Rights over everything for nodes or workloads",
    reason="A pod that escapes to its node has the node's rights, so a node needs few rights",
    sources=(
        "https://docs.cloud.google.com/kubernetes-engine/docs/how-to/hardening-your-cluster",
        "https://learn.microsoft.com/azure/role-based-access-control/best-practices",
        "https://kubernetes.io/docs/concepts/security/rbac-good-practices/",
    ),
    check=_broad_role,
    settings={"allowed": _ALLOWED},
)

EVERYBODY = Rule(
    name="role-for-everybody",
    refuses="A role for everybody",
    reason="Everybody who reaches the address has it, and no log names a person",
    sources=(
        "https://docs.cloud.google.com/kubernetes-engine/docs/best-practices/rbac",
        "https://docs.cloud.google.com/iam/docs/overview#all-users",
    ),
    check=_everybody,
    settings={
        "allowed": _ALLOWED,
        # The default gives the public keys that verify service account tokens, and the issuer's
        # addresses (kubernetes.io: "Service account issuer discovery"). Kubeflow's manifests bind
        # it to everybody, so that Istio can verify tokens (common/oauth2-proxy).
        "roles": texts(
            ["system:service-account-issuer-discovery"],
            "ClusterRoles that everybody may have; `*` stands for any text.",
        ),
    },
)
