"""Drift is measured against the commit a stack was brought up from."""

from __future__ import annotations

import pytest

from tests.workflows.conftest import Machine

pytestmark = pytest.mark.process

DEPLOYMENTS = "repos/owner/project/deployments"


def commit(machine: Machine, stack: str = "prod") -> str:
    outputs = machine.folder / "outputs"
    done = machine.run("deployed.py", STACK=stack, GITHUB_OUTPUT=str(outputs))
    assert done.returncode == 0, done.stderr
    return outputs.read_text()


def test_a_waiting_or_failed_deployment_is_skipped(machine: Machine) -> None:
    machine.answer(DEPLOYMENTS, [{"id": 3, "sha": "waits"}, {"id": 2, "sha": "failed"}, {"id": 1, "sha": "runs"}])
    machine.answer(f"{DEPLOYMENTS}/3/statuses", [{"state": "waiting"}])
    machine.answer(f"{DEPLOYMENTS}/2/statuses", [{"state": "failure"}, {"state": "in_progress"}])
    machine.answer(f"{DEPLOYMENTS}/1/statuses", [{"state": "inactive"}, {"state": "success"}])
    assert commit(machine) == "commit=runs\n"
    assert machine.calls()[0][1] == f"{DEPLOYMENTS}?environment=prod&per_page=100"


def test_a_stack_that_was_never_brought_up_has_no_commit(machine: Machine) -> None:
    machine.answer(DEPLOYMENTS, [])
    assert commit(machine) == "commit=\n"


def test_a_stacks_name_cannot_change_the_question(machine: Machine) -> None:
    done = machine.run("deployed.py", STACK="dev&environment=prod", GITHUB_OUTPUT=str(machine.folder / "outputs"))
    assert done.returncode == 1
    assert machine.calls() == []
