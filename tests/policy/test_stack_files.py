"""Stack files of this repository against the rules, without an engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.declared import Declared, unversioned
from policy.rules import RULES
from tests.components.program import PROJECT, declare, stack_config

pytestmark = pytest.mark.program

CONFIGS = PROJECT / "tests" / "configs"


def broken(path: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The rules that the stack breaks."""
    program = declare(stack_config(path), monkeypatch, stack="prod")
    resources = [
        Declared(unversioned(resource.type), resource.inputs, bool(resource.options.get("protect")), resource.name)
        for resource in program.resources
    ]
    return {
        rule.name
        for rule in RULES
        if rule.stack_findings(resources) or any(rule.findings(declared) for declared in resources)
    }


@pytest.mark.parametrize("name", ["production", "gke-production"])
def test_the_pages_production_stacks_keep_every_rule(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert broken(CONFIGS / f"{name}.happy.yaml", monkeypatch) == set()


@pytest.mark.parametrize("name", ["sharing", "mps"])
def test_the_programs_own_pods_may_have_what_they_need_of_their_node(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not broken(CONFIGS / f"{name}.happy.yaml", monkeypatch) & {"host-pod", "broad-role", "image-without-digest"}
