"""A command killed at any moment leaves nothing that the next one cannot set right."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.sandbox.stack import Stack

pytestmark = pytest.mark.slow


def killed(stack: Stack, command: str, seconds: float) -> None:
    """Start a command and kill its process, and that one alone: its engine and the cluster's processes run on."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sandbox", command, "--cwd", str(stack.project)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize("seconds", [1, 2.5, 4, 6, 8])
def test_an_up_that_was_killed_is_completed_by_the_next_one(seconds: float, tmp_path: Path) -> None:
    stack = Stack.copy(tmp_path)
    killed(stack, "up", seconds)
    try:
        stack.run("up")
        assert len(stack.get("nodes")["items"]) == 3
        assert stack.steps() == []
    finally:
        stack.run("down", "--force")


@pytest.mark.parametrize("seconds", [1, 3, 5])
def test_a_down_that_was_killed_is_completed_by_the_next_one(seconds: float, tmp_path: Path) -> None:
    stack = Stack.copy(tmp_path)
    stack.run("up")
    killed(stack, "down", seconds)
    stack.run("down")
    assert [path.name for path in stack.home.iterdir()] == ["dev.lock"]
