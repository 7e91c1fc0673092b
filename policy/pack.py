"""The rules as policies of the engine: mandatory in production stacks, advisory in all others.

The pack's configuration changes that for any rule, also for those of production stacks, which are disabled elsewhere; and it
says which stacks are production.
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

from policy import stacks
from policy.declared import Declared
from policy.rule import Rule, Setting
from policy.rules import RULES

NAME = "kubeflow-spot"

BY_STACK = EnforcementLevel.REMEDIATE
"""Stands for the level that the stack's name decides. The engine asks for levels before it sends the configuration, and sends
them back with it (pulumi v3.258.0, resource/analyzer/config.go, ReconcilePolicyPackConfig), so the two must differ. No rule
here remediates, so nobody configures this level; where nothing replaced it, the library reports it as mandatory."""


def serve(stack: str) -> None:
    """Answer the engine about one stack; does not return.

    The engine gives the stack's name in PULUMI_STACK to whatever starts a pack (pulumi v3.258.0, analyzer_plugin.go, constructEnv;
    language-python, RunPlugin).
    """

    class OfStack(library._PolicyAnalyzerServicer):
        """Answers the engine; the library has no public way to see the whole configuration."""

        def Configure(self, request: proto.ConfigureAnalyzerRequest, context: Any) -> Any:
            decide(stack, request)
            return super().Configure(request, context)  # type: ignore[no-untyped-call]

    library._PolicyAnalyzerServicer = OfStack  # type: ignore[misc]
    PolicyPack(NAME, policies=policies())


def decide(stack: str, request: proto.ConfigureAnalyzerRequest) -> None:
    """Set the levels that the configuration leaves to the stack's name.

    A rule that the request does not name gets its level too: to read a missing entry makes one, whose level is advisory.
    """
    sent = request.policyConfig
    configured = (
        json_format.MessageToDict(sent[stacks.NAME].properties) if stacks.NAME in sent else {}
    )
    production = stacks.is_production(stack, configured)
    for rule in RULES:
        if rule.name not in sent or sent[rule.name].enforcementLevel == proto.REMEDIATE:
            sent[rule.name].enforcementLevel = _level(rule, production)


def _level(rule: Rule, production: bool) -> proto.EnforcementLevel.ValueType:
    if rule.production and not production:
        return proto.DISABLED
    return proto.MANDATORY if production and not rule.advisory else proto.ADVISORY


def policies() -> list[Policy]:
    """All rules, and the configuration of production stacks."""
    names = ResourceValidationPolicy(
        stacks.NAME,
        "Names of production stacks. No resource breaks this",
        lambda args, report: None,
        enforcement_level=EnforcementLevel.DISABLED,
        config_schema=_schema(stacks.SETTINGS),
    )
    return [*map(_policy, RULES), names]


def _policy(rule: Rule) -> Policy:
    if rule.check_stack:
        return StackValidationPolicy(
            rule.name,
            rule.description,
            _stack_validation(rule),
            enforcement_level=BY_STACK,
            config_schema=_schema(rule.settings),
            url=rule.sources[0],
        )
    return ResourceValidationPolicy(
        rule.name,
        rule.description,
        _validation(rule),
        enforcement_level=BY_STACK,
        config_schema=_schema(rule.settings),
        url=rule.sources[0],
    )


def _schema(settings: Mapping[str, Setting]) -> PolicyConfigSchema | None:
    properties = {name: dict(setting.schema) for name, setting in settings.items()}
    return PolicyConfigSchema(properties) if properties else None


def _validation(rule: Rule) -> Callable[[ResourceValidationArgs, ReportViolation], None]:
    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        for finding in rule.findings(Declared.of(args), args.get_config()):
            report(str(finding), None)

    return validate


def _stack_validation(rule: Rule) -> Callable[[StackValidationArgs, ReportViolation], None]:
    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        resources = [Declared.in_stack(resource) for resource in args.resources]
        for declared, finding in rule.stack_findings(resources, args.get_config()):
            report(str(finding), declared.urn)

    return validate
