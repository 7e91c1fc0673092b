"""Admission policies with their bindings (kubernetes.io, pages validating- and
mutating-admission-policy).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pulumi_kubernetes as k8s
from pulumi_kubernetes.admissionregistration import v1

from components.layer.part import Part, metadata

Mutating = tuple[v1.MutatingAdmissionPolicyInitArgs, v1.MutatingAdmissionPolicyBindingInitArgs]
Validating = tuple[
    v1.ValidatingAdmissionPolicyInitArgs, v1.ValidatingAdmissionPolicyBindingInitArgs
]

Resources = Mapping[str, Sequence[str]]
"""Plural names of resources by their API group."""

PODS: Resources = {"": ("pods",)}

_OWN_GROUPS = {"", "resource.k8s.io"}
"""API groups of Kubernetes itself."""


def mutating(
    name: str,
    instance: str,
    namespaces: k8s.meta.v1.LabelSelectorArgs,
    *,
    resources: Resources = PODS,
    conditions: Mapping[str, str],
    variables: Mapping[str, str] | None = None,
    patch: str,
) -> Mutating:
    """Return a policy that patches new objects of these namespaces. Conditions and variables are
    expressions by their names.
    """
    spec = v1.MutatingAdmissionPolicySpecArgs(
        # An unjudged pod runs on demand, which costs money, or waits visibly; a refused pod would
        # not exist.
        failure_policy="Ignore",
        # Later changes by webhooks are intended; judging every pod twice would double the cost
        # (bench).
        reinvocation_policy="Never",
        match_constraints=_match(resources, ["CREATE"], namespaces),
        match_conditions=_conditions(conditions),
        variables=_variables(variables) if variables else None,
        mutations=[
            v1.MutationArgs(patch_type="JSONPatch", json_patch=v1.JSONPatchArgs(expression=patch))
        ],
    )
    binding = v1.MutatingAdmissionPolicyBindingSpecArgs(policy_name=name)
    return (
        v1.MutatingAdmissionPolicyInitArgs(metadata=metadata(name, instance), spec=spec),
        v1.MutatingAdmissionPolicyBindingInitArgs(metadata=metadata(name, instance), spec=binding),
    )


def validating(
    name: str,
    instance: str,
    namespaces: k8s.meta.v1.LabelSelectorArgs,
    *,
    resources: Resources = PODS,
    operations: Sequence[str],
    failure: str = "Fail",
    conditions: Mapping[str, str] | None = None,
    variables: Mapping[str, str],
    validation: v1.ValidationArgs,
    action: str,
) -> Validating:
    """Return a policy that takes an action on invalid objects; otherwise as `mutating`."""
    spec = v1.ValidatingAdmissionPolicySpecArgs(
        failure_policy=failure,
        match_constraints=_match(resources, operations, namespaces),
        match_conditions=_conditions(conditions) if conditions else None,
        variables=_variables(variables),
        validations=[validation],
    )
    binding = v1.ValidatingAdmissionPolicyBindingSpecArgs(
        policy_name=name, validation_actions=[action]
    )
    return (
        v1.ValidatingAdmissionPolicyInitArgs(metadata=metadata(name, instance), spec=spec),
        v1.ValidatingAdmissionPolicyBindingInitArgs(
            metadata=metadata(name, instance), spec=binding
        ),
    )


def declare(part: Part, name: str, policy: Mutating | Validating) -> None:
    """Declare a policy and its binding as children of a part."""
    arguments, binding = policy
    mutates = isinstance(arguments, v1.MutatingAdmissionPolicyInitArgs)
    # A type checker cannot join the pairs of classes and arguments.
    declared: Any = v1.MutatingAdmissionPolicy if mutates else v1.ValidatingAdmissionPolicy
    bound: Any = (
        v1.MutatingAdmissionPolicyBinding if mutates else v1.ValidatingAdmissionPolicyBinding
    )
    bound(f"{name}-binding", binding, part.after(declared(name, arguments, part.child)))


def named(operator: str, namespaces: Iterable[str]) -> k8s.meta.v1.LabelSelectorArgs:
    """Return the selector of namespaces by their names."""
    name = k8s.meta.v1.LabelSelectorRequirementArgs(
        key="kubernetes.io/metadata.name", operator=operator, values=sorted(namespaces)
    )
    return k8s.meta.v1.LabelSelectorArgs(match_expressions=[name])


def _match(
    resources: Resources, operations: Sequence[str], namespaces: k8s.meta.v1.LabelSelectorArgs
) -> v1.MatchResourcesArgs:
    # One rule for all groups: a resource name that a group lacks matches nothing.
    rule = v1.NamedRuleWithOperationsArgs(
        api_groups=list(resources),
        # The API server converts requests of older versions to this one ("matchPolicy": Equivalent
        # is the default). It knows no versions of the groups that a project may install later.
        api_versions=["v1"] if set(resources) <= _OWN_GROUPS else ["*"],
        operations=operations,
        resources=sorted({name for names in resources.values() for name in names}),
    )
    return v1.MatchResourcesArgs(resource_rules=[rule], namespace_selector=namespaces)


def _conditions(expressions: Mapping[str, str]) -> list[v1.MatchConditionArgs]:
    return [v1.MatchConditionArgs(name=name, expression=text) for name, text in expressions.items()]


def _variables(expressions: Mapping[str, str]) -> list[v1.VariableArgs]:
    return [v1.VariableArgs(name=name, expression=text) for name, text in expressions.items()]
