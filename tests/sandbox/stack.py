"""A stack in a sandbox of its own, driven through the command line as its user would."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import yaml

PROJECT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Stack:
    """A copy of the project's files in a folder of its own, with the sandbox's home where it is by default."""

    project: Path
    home: Path
    name: str = "dev"

    @classmethod
    def copy(cls, folder: Path, name: str = "dev") -> Stack:
        """The checked-in stack, copied to a git repository in `folder` so that tests may edit it."""
        project = folder / "project"
        project.mkdir()
        for file in ("Pulumi.yaml", f"Pulumi.{name}.yaml", "__main__.py", ".gitignore"):
            shutil.copy(PROJECT / file, project)
        stack = cls(project, project / ".sandbox", name)
        stack.git("init", "--quiet")
        stack.git("add", "--all")
        return stack

    def git(self, *arguments: str) -> str:
        """What git prints in the project."""
        return subprocess.run(["git", *arguments], cwd=self.project, capture_output=True, text=True, check=True).stdout

    def changed_files(self) -> str:
        """What differs from the checked-in files, and files git would ask about."""
        return self.git("diff", "--name-only") + self.git("ls-files", "--others", "--exclude-standard")

    @property
    def file(self) -> Path:
        return self.project / f"Pulumi.{self.name}.yaml"

    @property
    def config(self) -> dict[str, Any]:
        """The stack file's settings without the project's prefix."""
        content = yaml.safe_load(self.file.read_text())["config"]
        return {key.removeprefix("kubeflow-spot:"): value for key, value in content.items()}

    def write(self, config: dict[str, Any]) -> None:
        """Replace the stack file's settings."""
        self.file.write_text(
            yaml.safe_dump({"config": {f"kubeflow-spot:{key}": value for key, value in config.items()}})
        )

    def run(self, command: str, *arguments: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command of the sandbox; fails the test when it ends otherwise than `ok` says."""
        done = subprocess.run(
            self._command(command, *arguments), env=_environment(), capture_output=True, text=True, check=False
        )
        assert (done.returncode == 0) == ok, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def start(self, command: str, output: IO[str], *arguments: str) -> subprocess.Popen[str]:
        """Start a command of the sandbox without waiting for it; all it prints goes to `output`."""
        return subprocess.Popen(
            self._command(command, *arguments), env=_environment(), stdout=output, stderr=subprocess.STDOUT, text=True
        )

    def _command(self, command: str, *arguments: str) -> list[str]:
        where = ["--stack", self.name, "--cwd", str(self.project)]
        return [sys.executable, "-m", "sandbox", command, *where, *arguments]

    def steps(self) -> list[tuple[str, str, list[str]]]:
        """What an `up` would do, as (operation, resource name, changed properties)."""
        printed = json.loads(self.run("preview", "--json").stdout)
        assert printed["errors"] == []
        return [(step["op"], step["name"], step["diff"]) for step in printed["steps"]]

    def kubectl(self, *arguments: str, ok: bool = True) -> str:
        """What kubectl prints."""
        return self.run("kubectl", "--", *arguments, ok=ok).stdout

    def get(self, *arguments: str) -> dict[str, Any]:
        """What `kubectl get -o json` finds."""
        found: dict[str, Any] = json.loads(self.kubectl("get", *arguments, "-o", "json"))
        return found

    def outputs(self) -> dict[str, Any]:
        """The stack's outputs; secret ones hidden."""
        found: dict[str, Any] = json.loads(self.run("outputs", "--json").stdout)
        return found


def until(condition: Callable[[], bool], seconds: float = 30) -> bool:
    """Whether the condition came true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.2)
    return False


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "SANDBOX_HOME"}
