"""The rules as policies of the engine: mandatory in production stacks, advisory in all others.

The pack's configuration changes the level of any rule, also of rules for production stacks, which
are disabled elsewhere, and adds names of production stacks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pulumi_policy.policy as library
from google.protobuf import json_format
from pulumi.runtime import proto
from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    PolicyPack,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)

from policy.declared import Declared
from policy.rule import Rule, Setting, texts
from policy.rules import RULES

NAME = "kubeflow-spot"

BY_STACK = EnforcementLevel.REMEDIATE
"""A placeholder for the level that the stack's name decides. The engine reads the levels before it
sends the configuration, and sends them back with it (pulumi v3.258.0, resource/analyzer/config.go,
ReconcilePolicyPackConfig), so the placeholder must differ from configured levels. No rule
remediates, so nobody configures this level; unreplaced, the library reports it as mandatory."""

PRODUCTION_STACKS = "production-stacks"
"""The configuration's key for names of production stacks; no rule has this name."""

_NAMES = ("prod", "production")

STACK_SETTINGS: Mapping[str, Setting] = {
    "names": texts([*_NAMES], "Names of production stacks, beside the default's."),
    "prefixes": texts(
        [name + mark for name in _NAMES for mark in "-_."],
        "Beginnings of their names, beside the default's.",
    ),
}


def serve(stack: str) -> None:
    """Answer the engine about one stack; does not return.

    The engine sets PULUMI_STACK for the process that starts a pack (pulumi v3.258.0,
    analyzer_plugin.go, constructEnv; language-python, RunPlugin).
    """

    class OfStack(library._PolicyAnalyzerServicer):
        """The engine's servicer; the library has no public access to the whole configuration."""

        def Configure(self, request: proto.ConfigureAnalyzerRequest, context: Any) -> Any:
            set_levels(stack, request)
            return super().Configure(request, context)  # type: ignore[no-untyped-call]

    library._PolicyAnalyzerServicer = OfStack  # type: ignore[misc]
    PolicyPack(NAME, policies=policies())


def set_levels(stack: str, request: proto.ConfigureAnalyzerRequest) -> None:
    """Set the levels that the configuration leaves to the stack's name.

    Reading a missing entry creates it with the level advisory, so every rule is set.
    """
    sent = request.policyConfig
    configured = (
        json_format.MessageToDict(sent[PRODUCTION_STACKS].properties)
        if PRODUCTION_STACKS in sent
        else {}
    )
    production = is_production(stack, configured)
    for rule in RULES:
        if rule.name not in sent or sent[rule.name].enforcementLevel == proto.REMEDIATE:
            sent[rule.name].enforcementLevel = _level(rule, production)


def is_production(stack: str, configured: Mapping[str, Any] | None = None) -> bool:
    """Return whether a stack is of production. `stack` may be `organization/project/name`.

    Configured names are added to the defaults: a team's list must not take the rules from `prod`.
    """
    name = stack.rpartition("/")[2]
    names, prefixes = (
        [*setting.schema["default"], *(configured or {}).get(key, ())]
        for key, setting in STACK_SETTINGS.items()
    )
    # Every name starts with an empty text.
    return name in names or any(prefix and name.startswith(prefix) for prefix in prefixes)


def _level(rule: Rule, production: bool) -> proto.EnforcementLevel.ValueType:
    if rule.production and not production:
        return proto.DISABLED
    return proto.MANDATORY if production and not rule.advisory else proto.ADVISORY


def policies() -> list[Policy]:
    """Return all rules and the configuration of production stacks."""
    names = ResourceValidationPolicy(
        PRODUCTION_STACKS,
        "Names of production stacks. No resource breaks this",
        lambda args, report: None,
        enforcement_level=EnforcementLevel.DISABLED,
        config_schema=_schema(STACK_SETTINGS),
    )
    return [*map(_policy, RULES), names]


def _policy(rule: Rule) -> Policy:
    schema = _schema(rule.settings)
    options: dict[str, Any] = {"enforcement_level": BY_STACK, "config_schema": schema}
    if rule.check_stack:
        return StackValidationPolicy(
            rule.name, rule.description, _stack_validation(rule), url=rule.sources[0], **options
        )
    return ResourceValidationPolicy(
        rule.name, rule.description, _validation(rule), url=rule.sources[0], **options
    )


def _schema(settings: Mapping[str, Setting]) -> PolicyConfigSchema | None:
    properties = {name: dict(setting.schema) for name, setting in settings.items()}
    return PolicyConfigSchema(properties) if properties else None


def _validation(rule: Rule) -> Callable[[ResourceValidationArgs, ReportViolation], None]:
    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        for finding in rule.findings(Declared.from_resource(args), args.get_config()):
            report(str(finding), None)

    return validate


def _stack_validation(rule: Rule) -> Callable[[StackValidationArgs, ReportViolation], None]:
    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        resources = [Declared.from_stack(resource) for resource in args.resources]
        for declared, finding in rule.stack_findings(resources, args.get_config()):
            report(str(finding), declared.urn)

    return validate
