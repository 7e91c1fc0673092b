"""A service account with rights in the whole cluster."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_kubernetes as k8s

from components.layer.part import Part, metadata


def service_account(
    part: Part, name: str, account: str, namespace: str, rules: Sequence[k8s.rbac.v1.PolicyRuleArgs]
) -> tuple[pulumi.Resource, ...]:
    """Declare the account `account`, and its ClusterRole and binding under the same name. `name`
    begins their logical names.
    """
    group, of_cluster = "rbac.authorization.k8s.io", metadata(account, part.instance)
    return (
        k8s.core.v1.ServiceAccount(
            f"{name}-account", metadata=metadata(account, part.instance, namespace), opts=part.child
        ),
        k8s.rbac.v1.ClusterRole(f"{name}-role", metadata=of_cluster, rules=rules, opts=part.child),
        k8s.rbac.v1.ClusterRoleBinding(
            f"{name}-binding",
            metadata=of_cluster,
            role_ref=k8s.rbac.v1.RoleRefArgs(api_group=group, kind="ClusterRole", name=account),
            subjects=[
                k8s.rbac.v1.SubjectArgs(kind="ServiceAccount", name=account, namespace=namespace)
            ],
            opts=part.child,
        ),
    )
