"""The home of one stack's sandbox: all its state is below one folder."""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.base.errors import SandboxError
from sandbox.base.files import read_json, write_private

PROJECT = Path(__file__).resolve().parents[2]
"""This checkout."""

_CHOICES = "choices.json"


@dataclass(frozen=True)
class Home:
    """The folders of one stack's sandbox. `SANDBOX_HOME` moves them out of the checkout."""

    stack: str
    project: Path
    """The folder of `__main__.py`, `Pulumi.yaml` and the stack files."""
    root: Path
    config_file: Path | None = None
    """The stack's own file, where it is not `Pulumi.<stack>.yaml` in the project's folder."""
    host: str = ""
    """The stack whose emulated subscription this one uses; empty when it has one of its own."""

    @classmethod
    def of(cls, stack: str, project: Path = PROJECT) -> Home:
        """Return the home of a project's stack, with the remembered options. Raises SandboxError for a wrong stack name."""
        # `down` removes the folder of this name: "" and ".." would be other folders.
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", stack):
            raise SandboxError(
                f"{stack!r} is no stack name: use letters, digits, -, _ and ., and begin with a letter or digit"
            )
        root = Path(os.environ.get("SANDBOX_HOME") or project / ".sandbox").resolve()
        home = cls(stack, project.resolve(), root)
        choices = _choices(home.directory)
        file = choices.get("config_file")
        return replace(home, config_file=Path(file) if file else None, host=choices.get("host", ""))

    def with_options(self, config_file: Path | None = None, beside: str | None = None) -> Home:
        """Return the same home with a command's options; options that are missing stay as remembered.

        Raises SandboxError when the stack cannot be `beside` that other one.
        """
        home = replace(self, config_file=config_file or self.config_file)
        if beside is None or beside == self.host:
            return home
        if self.host or self.cloud.exists():
            has = f"is beside {self.host!r}" if self.host else "has an emulated cloud of its own"
            raise SandboxError(f"stack {self.stack!r} {has}: `down` it first, then bring it up beside {beside!r}")
        host = Home.of(beside, self.project)
        if host.host:
            raise SandboxError(f"stack {beside!r} is itself beside {host.host!r}: use `--beside {host.host}`")
        if not host.directory.exists():
            raise SandboxError(f"stack {beside!r} is not up, so it has no cloud to share")
        return replace(home, host=beside)

    def remember(self) -> None:
        """Keep the options for the stack's later commands."""
        choices = {"config_file": str(self.config_file or ""), "host": self.host}
        write_private(self.directory / _CHOICES, json.dumps(choices).encode())

    def guests(self) -> list[str]:
        """Return the stacks that use this one's emulated subscription."""
        folders = (path.parent for path in self.root.glob(f"*/{_CHOICES}"))
        return sorted(folder.name for folder in folders if _choices(folder).get("host") == self.stack)

    @property
    def directory(self) -> Path:
        return self.root / self.stack

    @property
    def workspace(self) -> Path:
        """The engine's scratch copies of the project and stack files."""
        return self.directory / "workspace"

    @property
    def engine(self) -> Path:
        """The engine's own folder: its plugins and credentials."""
        return self.directory / "pulumi-home"

    @property
    def backend(self) -> Path:
        """The engine's state."""
        return self.directory / "backend"

    @property
    def subscription(self) -> str:
        """The stack that owns the emulated subscription: the host, or this one."""
        return self.host or self.stack

    @property
    def cloud(self) -> Path:
        """The emulated clouds' own memory."""
        return self.root / self.subscription / "cloud"

    @property
    def clusters(self) -> Path:
        """The folder of the control planes, one folder each."""
        return self.root / self.subscription / "clusters"

    @property
    def lock(self) -> Path:
        # Beside the folder, not in it: `down` removes the folder while it holds the lock. No stack's name has a plus: another
        # stack may be called `dev.lock`.
        return self.root / f"{self.stack}+command.lock"

    @property
    def cloud_lock(self) -> Path:
        return self.root / f"{self.subscription}+cloud.lock"


def _choices(directory: Path) -> dict[str, str]:
    path = directory / _CHOICES
    remedy = f"`rm {shlex.quote(str(path))}`, then name `--config-file` and `--beside` again, if the stack had them"
    try:
        choices: dict[str, str] = read_json(path, remedy)
    except FileNotFoundError:
        return {}
    return choices
