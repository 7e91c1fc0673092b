"""Checks of a running stack, and the command lines that messages propose."""

import os
import shutil

from sandbox.base.errors import SandboxError
from sandbox.base.home import PROJECT, Home
from sandbox.cli.options import DEFAULT_STACK
from sandbox.cluster import clusters
from sandbox.cluster.control_plane import ControlPlane


def planes(home: Home) -> list[ControlPlane]:
    """The control planes of a stack. Raises SandboxError when the stack is not up."""
    existing = clusters.planes(home.clusters)
    if not existing:
        raise SandboxError(f"stack {home.stack!r} is not up: run `{command_line(home, 'up')}` first")
    return existing


def require_running(home: Home) -> None:
    """Raises SandboxError when not every process of a stack runs."""
    if not all(plane.running() for plane in planes(home)):
        raise SandboxError(
            f"not every process of stack {home.stack!r} runs: `{command_line(home, 'up')}` restarts them"
        )


def command_line(home: Home, command: str) -> str:
    """A command for the same stack as the user would type it: through uv where that is on the PATH."""
    program = "uv run sandbox" if shutil.which("uv") else os.path.relpath(PROJECT / ".venv" / "bin" / "sandbox")
    name, _, rest = command.partition(" ")
    stack = [] if home.stack == DEFAULT_STACK else ["--stack", home.stack]
    cwd = [] if home.project == PROJECT else ["--cwd", str(home.project)]
    return " ".join([program, name, *stack, *cwd, *([rest] if rest else [])])
