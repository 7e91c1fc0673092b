"""Rights of nodes and workloads outside their own pod."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from policy import clouds
from policy.declared import Declared, at
from policy.rule import Finding, Rule, Settings

_CLUSTER_BINDING = re.compile(r"kubernetes:rbac\.authorization\.k8s\.io/v\w+:ClusterRoleBinding(Patch)?")
_EVERY_WORKLOAD = re.compile(r"system:(authenticated|unauthenticated|nodes|serviceaccounts(:.+)?)")


def _check(declared: Declared, settings: Settings) -> Iterator[Finding]:
    for cloud in clouds.CLOUDS:
        yield from cloud.roles(declared)
    if _CLUSTER_BINDING.fullmatch(declared.type):
        yield from _kubernetes(declared)


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
