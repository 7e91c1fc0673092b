"""Hints name a command as the user called this one."""

import re
import shutil
from pathlib import Path

import pytest

from sandbox.base.home import PROJECT, Home
from sandbox.cli import options
from sandbox.cli.options import command_line


@pytest.mark.parametrize(
    ("environment", "uv", "stack", "command", "shown"),
    [
        ({"MAKELEVEL": "1", "UV": "/bin/uv"}, "/bin/uv", "dev", "up", "make up"),
        ({"MAKELEVEL": "1", "UV": "/bin/uv"}, "/bin/uv", "prod", "drill", "make drill STACK=prod"),
        ({"MAKELEVEL": "1", "UV": "/bin/uv"}, "/bin/uv", "dev", "down --force", "uv run sandbox down --force"),
        ({"UV": "/bin/uv"}, "/bin/uv", "prod", "up", "uv run sandbox up --stack prod"),
        ({"UV": "/cache/uv"}, None, "prod", "up", ".venv/bin/sandbox up --stack prod"),
        ({}, "/bin/uv", "dev", "up", ".venv/bin/sandbox up"),
    ],
)
def test_a_hint_is_the_command_that_the_user_would_type(
    environment: dict[str, str], uv: str | None, stack: str, command: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MAKELEVEL", "UV"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(shutil, "which", lambda _: uv)
    monkeypatch.chdir(PROJECT)
    assert command_line(Home.of(stack, PROJECT), command) == shown


def test_each_target_is_one_of_the_makefile_that_runs_the_command() -> None:
    makefile = (PROJECT / "Makefile").read_text()
    for target in options._TARGETS:
        assert re.search(rf"^{target}:.*\n\t@\$\(RUN\) sandbox {target} ", makefile, re.MULTILINE), target


def test_another_project_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKELEVEL", "1")
    monkeypatch.delenv("UV", raising=False)
    monkeypatch.chdir(PROJECT)
    assert command_line(Home.of("dev", tmp_path), "up") == f".venv/bin/sandbox up --cwd {tmp_path}"
