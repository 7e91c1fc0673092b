"""Requests of commands to the engine: no more than necessary."""

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.toolchain import programs

pytestmark = pytest.mark.engine

PROGRAM = """
import pulumi

group = pulumi.CustomResource("azure-native:resources:ResourceGroup", "ml", {"location": "westeurope", "resourceGroupName": "ml"})
pulumi.export("group", group.urn)
pulumi.export("token", pulumi.Output.secret("geheim"))
pulumi.export("nested", {"token": pulumi.Output.secret("geheim"), "size": 3})
"""


# A stack without a cluster has no processes.
SANDBOX = "from sandbox.cli import commands as cli; cli.require_running = lambda home: None; cli.main()"


@dataclass
class Project:
    """A project of one resource, and an engine that records its commands."""

    folder: Path
    engine: Path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "PATH": f"{self.engine.parent}{os.pathsep}{os.environ['PATH']}",
            "SANDBOX_HOME": str(self.folder / ".sandbox"),
        }
        command = [sys.executable, "-c", SANDBOX, *arguments, "--cwd", str(self.folder)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def commands_of(self, *arguments: str) -> tuple[list[str], str]:
        """Return the engine's commands during a successful command of the sandbox, and its output."""
        log = self.engine.with_name("log")
        log.write_text("")
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        # The engine's version is read because an older engine may be on the PATH.
        return [line for line in log.read_text().splitlines() if line != "version"], done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder, engine = tmp_path / "project", tmp_path / "bin" / "pulumi"
    for path in (folder, engine.parent):
        path.mkdir()
    (folder / "Pulumi.yaml").write_text("name: tiny\nruntime: python\n")
    (folder / "Pulumi.dev.yaml").write_text("config: {}\n")
    (folder / "__main__.py").write_text(PROGRAM)
    real = shlex.quote(str(programs.ensure(["pulumi"], print)["pulumi"]))
    words = 'for word; do case "$word" in -*) ;; *) printf "%s " "$word" ;; esac; done | sed "s/ $//"'
    log = shlex.quote(str(engine.with_name("log")))
    engine.write_text(f'#!/bin/sh\n{{ {words}; echo; }} >> {log}\nexec {real} "$@"\n')
    engine.chmod(0o755)
    return Project(folder, engine)


def test_each_command_runs_the_engine_once_and_a_new_stack_is_created_once(project: Project) -> None:
    commands, printed = project.commands_of("up")
    assert commands == ["stack init dev", "up never dev"]
    assert ": 2 create\n" in printed
    (project.folder / "__main__.py").write_text(PROGRAM.replace('"ml"})', '"ml", "tags": {"a": "b"}})'))
    commands, printed = project.commands_of("up")
    assert commands == ["up never dev"]
    assert ": 1 update\n" in printed
    assert project.commands_of("preview", "--expect-no-changes")[0] == ["preview never dev"]
    logs = project.folder / ".sandbox" / "dev" / "pulumi-home" / "logs"
    assert logs.read_bytes() == b"", "the engine writes its own log, which costs half its time"

    commands, printed = project.commands_of("outputs", "--json", "--show-secrets")
    assert commands == ["stack output dev"]
    clear = json.loads(printed)
    assert clear["token"] == "geheim"
    assert clear["nested"] == {"token": "geheim", "size": 3}
    commands, printed = project.commands_of("outputs", "--json")
    assert commands == []
    assert json.loads(printed) == {**clear, "token": "[secret]", "nested": "[secret]"}

    assert project.commands_of("down")[0] == ["destroy never dev"] * 2


def test_attributes_that_a_killed_engine_left_torn_are_no_obstacle(project: Project) -> None:
    assert project.run("up").returncode == 0
    state = project.folder / ".sandbox" / "dev" / "backend" / ".pulumi" / "stacks" / "tiny"
    (attributes,) = state.glob("dev.json.attrs")
    attributes.write_text("")
    assert project.run("preview").returncode == 0


def test_a_state_that_cannot_be_opened_is_an_error(project: Project) -> None:
    state = project.folder / ".sandbox" / "dev" / "backend" / ".pulumi" / "stacks" / "tiny" / "dev.json"
    state.parent.mkdir(parents=True)
    state.write_text('{"version": 4,')
    done = project.run("preview")
    assert done.returncode == 1
    assert f"error: {state} is cut off or broken" in done.stderr
