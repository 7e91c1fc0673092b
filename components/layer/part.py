"""A part of the layer: a component whose children are objects inside the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s

from components.layer import names


@dataclass(frozen=True)
class Inside:
    """What the parts of the layer know of the cluster."""

    instance: str
    """The stack's name in labels and names of objects."""
    part: pulumi.ResourceOptions
    """Options of each part."""
    child: pulumi.ResourceOptions
    """Options of each object: the cluster's provider, and the new cluster that objects follow."""


class Part(pulumi.ComponentResource):
    """The base of all parts. Their types say `addons`, the layer's former name, because every
    state's URNs contain it.
    """

    def __init__(self, type: str, name: str, inside: Inside) -> None:
        super().__init__(type, name, None, inside.part)
        self.instance = inside.instance
        self.child = pulumi.ResourceOptions.merge(inside.child, pulumi.ResourceOptions(parent=self))

    def after(self, *others: pulumi.Resource) -> pulumi.ResourceOptions:
        """Return the options of an object that comes after others."""
        return pulumi.ResourceOptions.merge(
            self.child, pulumi.ResourceOptions(depends_on=list(others))
        )


def metadata(
    name: str,
    instance: str,
    namespace: str | None = None,
    annotations: Mapping[str, str] | None = None,
) -> k8s.meta.v1.ObjectMetaArgs:
    """Return the metadata of a stack's object; no namespace for one of the whole cluster."""
    return k8s.meta.v1.ObjectMetaArgs(
        name=name,
        namespace=namespace,
        labels=names.labels(instance),
        annotations=annotations or None,
    )


def only_where(condition: k8s.core.v1.NodeSelectorRequirementArgs) -> k8s.core.v1.AffinityArgs:
    """Return the affinity of pods that run only on nodes that meet the condition."""
    terms = [k8s.core.v1.NodeSelectorTermArgs(match_expressions=[condition])]
    return k8s.core.v1.AffinityArgs(
        node_affinity=k8s.core.v1.NodeAffinityArgs(
            required_during_scheduling_ignored_during_execution=k8s.core.v1.NodeSelectorArgs(
                node_selector_terms=terms
            )
        )
    )


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
