"""Killing a command at a moment that its effects show."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from sandbox.tests.stack import Stack

PATIENCE = 120
"""Seconds after which a missed moment fails the test."""


def stored(stack: Stack, memory: str) -> list[dict[str, Any]]:
    """Return the resources in the emulated cloud's state, the file of that name."""
    path = stack.home / stack.name / "cloud" / memory
    resources: list[dict[str, Any]] = json.loads(path.read_text())["resources"] if path.exists() else []
    return resources


def engine_of(process: psutil.Process) -> psutil.Process | None:
    for child in process.children():
        with suppress(psutil.NoSuchProcess):  # A process that ended between the two reads.
            if "pulumi" in child.name():
                return child
    return None


def killed(
    stack: Stack, command: str, victim: str, moment: Callable[[Path], bool], folder: Path, *arguments: str
) -> None:
    """Run a command and kill it, or its engine, at a moment; all other processes of the command continue.

    `moment` is called with the file of the output so far.
    """
    printed = folder / "printed.txt"
    with printed.open("w") as output:
        running = stack.start(command, output, *arguments)
    process = psutil.Process(running.pid)
    deadline = time.monotonic() + PATIENCE
    while not (moment(printed) and engine_of(process)):
        assert running.poll() is None, f"it ended before that: {printed.read_text()}"
        assert time.monotonic() < deadline, f"that was never seen: {printed.read_text()}"
        time.sleep(0.002)
    target = process if victim == "sandbox" else engine_of(process)
    assert target is not None
    target.kill()
    assert running.wait() != 0
