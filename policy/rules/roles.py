"""Rights of nodes and workloads outside their own pod."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from policy import clouds
from policy.declared import Declared, at
from policy.rule import Finding, Rule, Settings
from policy.rules.hardening import by_cloud

_BINDING = re.compile(r"kubernetes:rbac\.authorization\.k8s\.io/v\w+:(?P<kind>Cluster)?RoleBinding(Patch)?")
_CLUSTER_ROLE = re.compile(r"kubernetes:rbac\.authorization\.k8s\.io/v\w+:ClusterRole(Patch)?")
_EVERY_WORKLOAD = re.compile(r"system:(nodes?(:.+)?|serviceaccounts?(:.+)?)")
_MASTERS = "system:masters"
_EVERYBODY = ("system:anonymous", "system:unauthenticated", "system:authenticated")
"""On GKE the last one holds everybody with a Google account (CIS GKE 4.1.10)."""


def _check(declared: Declared, settings: Settings) -> Iterator[Finding]:
    for cloud in clouds.CLOUDS:
        yield from cloud.roles(declared)
    if _CLUSTER_ROLE.fullmatch(declared.type):
        yield from _everything(declared)
    binding = _BINDING.fullmatch(declared.type)
    if not binding:
        return
    # Whoever has all rights in kube-system has the accounts of the cluster's own controllers.
    everything = bool(binding["kind"]) or declared.get("metadata.namespace") == "kube-system"
    for path, subject in _subjects(declared):
        if at(subject, "name") == _MASTERS:
            yield Finding(path, "a group whose rights nobody can take away", "bind the role to a group of your own")
        elif everything and declared.get("roleRef.name") == "cluster-admin" and _is_workload(subject):
            yield Finding(
                path,
                "an intruder in one such pod has the cluster",
                "bind a ClusterRole with the verbs and resources that are needed",
            )


def _everything(declared: Declared) -> Iterator[Finding]:
    rules = declared.get("rules")
    for index, rule in enumerate(rules if isinstance(rules, list) else ()):
        listed = [at(rule, name) for name in ("apiGroups", "resources", "verbs")]
        if all(isinstance(values, list) and "*" in values for values in listed):
            yield Finding(
                f"rules[{index}]", "every verb on every resource", "list the verbs and resources that are needed"
            )


def _everybody(declared: Declared, settings: Settings) -> Iterator[Finding]:
    yield from by_cloud(EVERYBODY.name)(declared, settings)
    for path, subject in _subjects(declared) if _BINDING.fullmatch(declared.type) else ():
        if at(subject, "name") in _EVERYBODY:
            yield Finding(path, "rights for whoever reaches the API server", "name a group of your own")


def _subjects(declared: Declared) -> Iterator[tuple[str, Any]]:
    subjects = declared.get("subjects")
    for index, subject in enumerate(subjects if isinstance(subjects, list) else ()):
        yield f"subjects[{index}]", subject


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

EVERYBODY = Rule(
    name="role-for-everybody",
    refuses="A role for everybody",
    reason="Whoever reaches the address has it, and no log names a person",
    sources=(
        "https://docs.cloud.google.com/kubernetes-engine/docs/best-practices/rbac",
        "https://docs.cloud.google.com/iam/docs/overview#all-users",
    ),
    check=_everybody,
)
