"""Rights of nodes and workloads outside their own pod."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from policy import clouds
from policy.declared import UNKNOWN, Declared, at
from policy.rule import Finding, Rule, Setting, Settings
from policy.rules.hardening import by_cloud

_BINDING = re.compile(
    r"kubernetes:rbac\.authorization\.k8s\.io/v\w+:(?P<kind>Cluster)?RoleBinding(Patch)?"
)
_CLUSTER_ROLE = re.compile(r"kubernetes:rbac\.authorization\.k8s\.io/v\w+:ClusterRole(Patch)?")
_EVERY_WORKLOAD = re.compile(r"system:(nodes?(:.+)?|serviceaccounts?(:.+)?)")
_MASTERS = "system:masters"
_EVERYBODY = ("system:anonymous", "system:unauthenticated", "system:authenticated")
"""On GKE the last one holds everybody with a Google account (CIS GKE 4.1.10)."""


def _check(declared: Declared, settings: Settings) -> Iterator[Finding]:
    for cloud in clouds.CLOUDS:
        yield from cloud.roles(declared)
    if _is_allowed(declared, settings["allowed"]):
        return
    if _CLUSTER_ROLE.fullmatch(declared.type):
        yield from _everything(declared)
    binding = _BINDING.fullmatch(declared.type)
    if not binding:
        return
    # Whoever has all rights in kube-system has the accounts of the cluster's own controllers.
    everything = bool(binding["kind"]) or declared.get("metadata.namespace") == "kube-system"
    for path, subject in _subjects(declared):
        if at(subject, "name") == _MASTERS:
            yield Finding(
                path,
                "a group whose rights nobody can take away",
                "bind the role to a group of your own",
            )
        elif (
            everything and declared.get("roleRef.name") == "cluster-admin" and _is_workload(subject)
        ):
            yield Finding(
                path,
                "an intruder in one such pod has the cluster",
                f"bind a ClusterRole with the verbs and resources that are needed, or {_add_name(ROLES)}",
            )


def _everything(declared: Declared) -> Iterator[Finding]:
    rules = declared.get("rules")
    for index, rule in enumerate(rules if isinstance(rules, list) else ()):
        listed = [at(rule, name) for name in ("apiGroups", "resources", "verbs")]
        if all(isinstance(values, list) and "*" in values for values in listed):
            remedy = f"list the verbs and resources that are needed, or {_add_name(ROLES)}"
            yield Finding(f"rules[{index}]", "every verb on every resource", remedy)


def _everybody(declared: Declared, settings: Settings) -> Iterator[Finding]:
    yield from by_cloud(EVERYBODY.name)(declared, settings)
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
            yield Finding(path, "rights for whoever reaches the API server", remedy)


def _is_allowed(declared: Declared, patterns: Sequence[str]) -> bool:
    """Whether a setting names this binding or ClusterRole; a name that is not known may be any of them."""
    name, namespace = declared.get("metadata.name"), declared.get("metadata.namespace")
    binding = _BINDING.fullmatch(declared.type)
    if not binding or binding["kind"]:
        return bool(patterns) if name is UNKNOWN else _matches(name, patterns)
    if UNKNOWN in (name, namespace):
        return bool(patterns)
    return _matches(f"{namespace or 'default'}/{name}", patterns)


def _matches(name: Any, patterns: Sequence[str]) -> bool:
    """Whether a pattern names an object of the cluster, or NAMESPACE/NAME: `argocd-*` is no object of a namespace `argocd-a`."""
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


_ALLOWED = Setting(
    {
        "type": "array",
        "items": {"type": "string"},
        "default": [],
        "description": "Names of ClusterRoles and ClusterRoleBindings, and NAMESPACE/NAME of RoleBindings, that may; `*` stands "
        "for any text without `/`.",
    }
)

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
    settings={"allowed": _ALLOWED},
)

EVERYBODY = Rule(
    name="role-for-everybody",
    refuses="A role for everybody",
    reason="Whoever reaches the address has it, and no log names a person",
    sources=(
        "https://docs.cloud.google.com/kubernetes-engine/docs/best-practices/rbac",
        "https://docs.cloud.google.com/iam/docs/overview#all-users",
    ),
    check=_everybody,
    settings={
        "allowed": _ALLOWED,
        "roles": Setting(
            {
                "type": "array",
                "items": {"type": "string"},
                # The keys that verify tokens of service accounts, which are public, and the addresses of the issuer
                # (kubernetes.io: configure-service-account, "Service account issuer discovery"). Kubeflow's manifests bind it to
                # everybody, so that Istio can verify the tokens (kubeflow/manifests, common/oauth2-proxy).
                "default": ["system:service-account-issuer-discovery"],
                "description": "ClusterRoles that everybody may have; `*` stands for any text.",
            }
        ),
    },
)
