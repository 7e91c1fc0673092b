"""The rules as the engine and readers see them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from pulumi_policy import EnforcementLevel

from policy.pack import policies
from policy.rules import RULES

PROJECT = Path(__file__).resolve().parents[2]
LEVELS = {
    True: {False: EnforcementLevel.MANDATORY, True: EnforcementLevel.MANDATORY},
    False: {False: EnforcementLevel.ADVISORY, True: EnforcementLevel.DISABLED},
}
"""By whether the stack, and whether the rule, is of production."""


@pytest.mark.parametrize(
    ("stack", "production"),
    [
        ("prod", True),
        ("production", True),
        ("acme/kubeflow-spot/prod", True),
        ("dev", False),
        ("preprod", False),
        ("prod-eu", True),
        ("production.eu", True),
        ("products", False),
        ("eu-prod", False),
        ("", False),
    ],
)
def test_rules_are_mandatory_in_production_and_some_are_only_for_it(stack: str, production: bool) -> None:
    expected = {rule.name: LEVELS[production][rule.production] for rule in RULES}
    assert {policy.name: policy.enforcement_level for policy in policies(stack)} == expected


def test_every_setting_has_a_default_that_its_own_schema_allows() -> None:
    kinds = {"integer": int, "array": list}
    for rule in RULES:
        for setting in rule.settings.values():
            assert isinstance(setting.schema["default"], kinds[setting.schema["type"]])


def test_the_real_cli_runs_the_pack_in_the_programs_environment() -> None:
    pack = yaml.safe_load((PROJECT / "policy" / "PulumiPolicy.yaml").read_text())
    program = yaml.safe_load((PROJECT / "Pulumi.yaml").read_text())
    assert pack["runtime"]["name"] == program["runtime"]["name"]
    options, program_options = pack["runtime"]["options"], program["runtime"]["options"]
    assert options["toolchain"] == program_options["toolchain"]
    assert (PROJECT / "policy" / options["virtualenv"]).resolve() == PROJECT / program_options["virtualenv"]


def rows() -> dict[str, list[str]]:
    """The first table of docs/policy.md by the rule's name."""
    lines = (PROJECT / "docs" / "policy.md").read_text().splitlines()
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if re.match(r"\| `[a-z-]+` \|", line)
    ]
    return {row[0].strip("`"): row[1:] for row in cells if row[-1] in ("all", "production")}


def test_the_page_lists_exactly_the_rules_of_the_pack() -> None:
    assert [*rows()] == [rule.name for rule in RULES]
    assert {name: row[-1] for name, row in rows().items()} == {
        rule.name: "production" if rule.production else "all" for rule in RULES
    }


def test_the_page_names_every_setting_with_its_default() -> None:
    text = (PROJECT / "docs" / "policy.md").read_text()
    for rule in RULES:
        for name, setting in rule.settings.items():
            default = setting.schema["default"]
            shown = ", ".join(f"`{value}`" for value in default) if isinstance(default, list) else str(default)
            assert f"| `{rule.name}` | `{name}` | {shown} |" in text
