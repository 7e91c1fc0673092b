"""Shell blocks of the pages for users: bash runs them beside programs that only record, and tools know each command."""

import os
import subprocess
from functools import cache
from pathlib import Path

import pytest

from sandbox.toolchain.programs import ensure
from tests.docs.pages import DOCS, Block, blocks

pytestmark = pytest.mark.process

PAGES = ("get-started", "kubeflow", "placement", "runbooks", "workloads")
BLOCKS = [block for page in PAGES for block in blocks(DOCS / f"{page}.md") if block.language in ("sh", "bash")]
PROGRAMS = ("az", "htpasswd", "kubectl", "openssl", "pulumi", "sleep", "uv")
STUB = """#!/bin/sh
words=$(printf '%s\\036' "$(basename "$0")" "$@"); printf '%s\\035' "$words" >>"$RECORD"
echo e30=
"""
"""A record of a command ends with \\035, each of its words with \\036: words have line breaks.

It is written at once: both programs of a pipe write.
"""


def commands(block: Block, folder: Path) -> list[list[str]]:
    """Return the commands that a block runs, with the files that it asks for."""
    (folder / "programs").mkdir()
    (folder / "kubeflow" / "values").mkdir(parents=True)
    for name in PROGRAMS:
        (folder / "programs" / name).write_text(STUB)
        (folder / "programs" / name).chmod(0o755)
    settings = {
        **os.environ,
        "PATH": f"{folder / 'programs'}:{os.environ['PATH']}",
        "RECORD": str(folder / "record"),
        **dict.fromkeys(("ACCOUNT", "ME", "CLOUD"), "x"),
    }
    script = block.text.replace("/CLOUD", "/azure")
    done = subprocess.run(
        ["bash", "-c", script], env=settings, cwd=folder, capture_output=True, text=True, timeout=20, check=False
    )
    assert done.stderr == ""
    records = (folder / "record").read_text().split("\x1d")[:-1]
    return [record.split("\x1e")[:-1] for record in records]


@cache
def problem(*command: str) -> str:
    """Return what the tool says against a command; it parses all flags before it shows its help."""
    end = command.index("--") if "--" in command else len(command)
    tool = str(ensure([command[0]], print)[command[0]])
    done = subprocess.run(
        [tool, *command[1:end], "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    # Help of a group of commands: the command itself is unknown.
    known = not done.returncode and not any(word in done.stdout for word in ("[command]", " SUBCOMMAND "))
    return "" if known else done.stderr or f"no such command: {' '.join(command)}"


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_every_command_of_a_block_is_one_that_its_tool_knows(block: Block, tmp_path: Path) -> None:
    found = commands(block, tmp_path)
    assert found
    assert [said for command in found if command[0] in ("kubectl", "pulumi") if (said := problem(*command))] == []


def test_a_wrong_command_is_detected() -> None:
    assert problem("kubectl", "get", "pods", "-n", "a", "--", "--wrong") == ""
    for words in (("get", "pods", "--wrong"), ("gets", "pods"), ("rollout", "restarts", "deployment"), ("apply", "-n")):
        assert problem("kubectl", *words) != "", words


def test_blocks_are_found() -> None:
    assert len(BLOCKS) >= 12
