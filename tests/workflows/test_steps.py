"""The scripts that stand in the workflows themselves, run by bash with stand-ins for the programs."""

import json
import os
import subprocess

import pytest

from tests.workflows.conftest import Machine
from tests.workflows.files import ACTIONS, read, steps, workflow

pytestmark = pytest.mark.process

RECORDS = """
import json, os, sys
from pathlib import Path
with Path(os.environ["WORLD"], "started").open("a") as started:
    started.write(json.dumps([Path(sys.argv[0]).name, sys.argv[1:], sorted(os.environ)]) + "\\n")
"""


@pytest.fixture
def recording(machine: Machine) -> Machine:
    """Return stand-ins that write how they were started."""
    for program in ("uv", "pulumi", "python3"):
        machine.program(f"bin/{program}", RECORDS)
    return machine


def started(machine: Machine, script: str, **settings: str) -> list[tuple[str, list[str], list[str]]]:
    """Return the programs that a step starts, as GitHub runs it (docs.github.com: workflow-syntax, `shell: bash`)."""
    path = f"{machine.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    environment = {"PATH": path, "WORLD": str(machine.world), **settings}
    subprocess.run(command, cwd=machine.folder / "project", env=environment, check=True)
    return [json.loads(line) for line in (machine.world / "started").read_text().splitlines()]


@pytest.mark.parametrize(
    ("private", "shown"), [("true", "--diff"), ("false", "--suppress-outputs"), ("", "--suppress-outputs")]
)
def test_an_update_shows_values_in_a_private_repository_only(recording: Machine, private: str, shown: str) -> None:
    script = workflow("up")["jobs"]["up"]["steps"][-1]["run"]
    [(program, arguments, _)] = started(recording, script, STACK="prod", PRIVATE=private)
    assert (program, arguments[:3]) == ("pulumi", ["up", "--stack", "prod"])
    assert [option for option in arguments if option in ("--diff", "--suppress-outputs")] == [shown]


@pytest.mark.parametrize(
    ("stack", "options"), [("prod", ["--policy-pack-config", "policy/config.prod.json"]), ("staging", [])]
)
def test_an_update_asks_the_policies_as_the_stacks_own_file_configures_them(
    recording: Machine, stack: str, options: list[str]
) -> None:
    config = recording.folder / "project" / "policy" / "config.prod.json"
    config.parent.mkdir()
    config.write_text("{}")
    script = workflow("up")["jobs"]["up"]["steps"][-1]["run"]
    [(_, arguments, _)] = started(recording, script, STACK=stack)
    assert arguments[arguments.index("--policy-pack") :] == ["--policy-pack", "policy", *options]


@pytest.mark.parametrize(
    ("drift", "options"),
    [("true", ["--refresh", "--expect-no-changes"]), ("false", ["--policy-pack", "policy"])],
)
def test_a_preview_looks_for_drift_or_asks_the_policies(recording: Machine, drift: str, options: list[str]) -> None:
    script = workflow("read")["jobs"]["read"]["steps"][-1]["run"]
    [(_, arguments, _)] = started(recording, script, STACK="prod", DRIFT=drift)
    assert arguments == [".github/scripts/cloud_preview.py", "prod", "program", *options]


def test_packages_are_installed_without_the_right_to_ask_for_an_identity(recording: Machine) -> None:
    script = next(step["run"] for step in steps(read(ACTIONS[0])) if "uv sync" in step.get("run", ""))
    identity = {"ACTIONS_ID_TOKEN_REQUEST_TOKEN": "x", "ACTIONS_ID_TOKEN_REQUEST_URL": "y"}
    calls = started(recording, script, **identity, UV_LOCKED="true", PROGRAM="program")
    assert [(program, arguments) for program, arguments, _ in calls] == [
        ("uv", ["sync", "--project", "program"]),
        ("python3", [".github/scripts/programs.py", "install", "program"]),
    ]
    for _, _, names in calls:
        assert set(identity) & set(names) == set()
        assert "UV_LOCKED" in names
