"""What the commands say on the terminal, and what they ask of a stack that is up."""

from __future__ import annotations

import os
import shutil

from sandbox.base.errors import SandboxError
from sandbox.base.home import PROJECT, Home
from sandbox.cli.options import DEFAULT_STACK
from sandbox.cluster import clusters
from sandbox.cluster.control_plane import ControlPlane


def planes(home: Home) -> list[ControlPlane]:
    """The control planes of a stack. Raises SandboxError when it is not up."""
    found = clusters.planes(home.clusters)
    if not found:
        raise SandboxError(f"stack {home.stack!r} is not up: run `{me(home, 'up')}` first")
    return found


def running(home: Home) -> None:
    """Raises SandboxError when not every process of a stack runs."""
    if not all(plane.running() for plane in planes(home)):
        raise SandboxError(f"not every process of stack {home.stack!r} runs: `{me(home, 'up')}` brings them back")


def me(home: Home, command: str) -> str:
    """How the reader can call this for the same stack: through uv where that is on the PATH."""
    me = "uv run sandbox" if shutil.which("uv") else os.path.relpath(PROJECT / ".venv" / "bin" / "sandbox")
    name, _, rest = command.partition(" ")
    stack = [] if home.stack == DEFAULT_STACK else ["--stack", home.stack]
    cwd = [] if home.project == PROJECT else ["--cwd", str(home.project)]
    return " ".join([me, name, *stack, *cwd, *([rest] if rest else [])])
