"""Where the sandbox of one stack keeps its state: everything is below one folder, and nothing is outside it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError

PROJECT = Path(__file__).resolve().parent.parent
"""This checkout."""


@dataclass(frozen=True)
class Home:
    """The folders of one stack's sandbox. `SANDBOX_HOME` moves them out of the checkout."""

    stack: str
    project: Path
    """The folder of `__main__.py`, `Pulumi.yaml` and the stack files."""
    root: Path

    @classmethod
    def of(cls, stack: str, project: Path = PROJECT) -> Home:
        """The sandbox of a project's stack. Raises SandboxError for what is no stack name."""
        # It becomes a folder's name, and `down` removes that folder: "" and ".." would be other folders.
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", stack):
            raise SandboxError(f"{stack!r} is no stack name: letters, digits, -, _ and ., the first a letter or digit")
        root = Path(os.environ.get("SANDBOX_HOME") or project / ".sandbox").resolve()
        return cls(stack, project.resolve(), root)

    @property
    def directory(self) -> Path:
        return self.root / self.stack

    @property
    def workspace(self) -> Path:
        """The engine's scratch copies of the project and stack files."""
        return self.directory / "workspace"

    @property
    def backend(self) -> Path:
        """The engine's state."""
        return self.directory / "backend"

    @property
    def cloud(self) -> Path:
        """The emulated clouds' own memory."""
        return self.directory / "cloud"

    @property
    def clusters(self) -> Path:
        """One control plane a folder."""
        return self.directory / "clusters"

    @property
    def lock(self) -> Path:
        # Beside the folder, not in it: `down` removes the folder while it holds the lock.
        return self.root / f"{self.stack}.lock"
