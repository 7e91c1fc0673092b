"""The rules as policies of the engine: mandatory in production stacks, advisory in all others.

The pack's configuration changes that for any rule, also for those of production stacks, which are disabled elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    PolicyPack,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
)

from policy.declared import Declared
from policy.rule import Rule
from policy.rules import RULES

NAME = "kubeflow-spot"

_PRODUCTION = re.compile(r"prod(uction)?([-_.].*)?")
"""Names of stacks that people depend on: prod, production, prod-eu."""


def is_production(stack: str) -> bool:
    """By a stack's name, which may be fully qualified: `organization/project/prod`."""
    return _PRODUCTION.fullmatch(stack.rpartition("/")[2]) is not None


def serve(stack: str) -> None:
    """Answer the engine about one stack; does not return.

    The engine gives the stack's name in PULUMI_STACK to whatever starts a pack (pulumi v3.258.0, analyzer_plugin.go, constructEnv;
    language-python, RunPlugin).
    """
    PolicyPack(NAME, policies=policies(stack))


def policies(stack: str) -> list[Policy]:
    """All rules, each at the level it has in a stack of this name."""
    production = is_production(stack)
    level = EnforcementLevel.MANDATORY if production else EnforcementLevel.ADVISORY
    return [_policy(rule, level if production or not rule.production else EnforcementLevel.DISABLED) for rule in RULES]


def _policy(rule: Rule, level: EnforcementLevel) -> Policy:
    properties = {name: dict(setting.schema) for name, setting in rule.settings.items()}
    return ResourceValidationPolicy(
        rule.name,
        rule.description,
        _validation(rule),
        enforcement_level=level,
        config_schema=PolicyConfigSchema(properties) if properties else None,
        url=rule.sources[0],
    )


def _validation(rule: Rule) -> Callable[[ResourceValidationArgs, ReportViolation], None]:
    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        for finding in rule.findings(Declared.of(args), args.get_config()):
            report(str(finding), None)

    return validate
