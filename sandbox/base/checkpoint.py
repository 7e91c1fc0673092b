"""The checkpoint: the engine's state file, read without the engine, which would take half a second.

With a full disk the engine cuts its state off, and its own copy of it (`.bak`) with the next step: pulumi 3.258 writes both through
gocloud.dev/blob/fileblob, which renames what it could write. So this keeps a copy of its own, as it is before each create and
after each command (pulumi/pulumi issues 2801 and 4679 have users who lost theirs).
"""

import shlex
from pathlib import Path
from typing import Any

from sandbox.base.cloud_types import CLUSTERS, POOLS
from sandbox.base.errors import SandboxError
from sandbox.base.files import ANEW, Unreadable, read_json, write_private
from sandbox.base.home import Home

State = dict[str, Any]
"""A resource in the engine's state."""

_STACK = "pulumi:pulumi:Stack"

_NEWEST = 4
"""The newest version of a state that pulumi 3.258 reads (sdk/go/common/apitype/core.go, DeploymentSchemaVersionLatest)."""


class Checkpoint:
    """The last written state of one stack. Secrets in it are encrypted.

    Raises SandboxError for a state that cannot be read, and for one that is gone.
    """

    def __init__(self, home: Home) -> None:
        self._stack = home.stack
        self._folder, self._name = home.backend / ".pulumi" / "stacks", f"{home.stack}.json"
        self._copies = home.directory / "state-copy"

    def exists(self, project: str) -> bool:
        """Return whether the engine's state has this project's stack."""
        self._latest()
        return (self._folder / project / self._name).exists()

    def keep_copy(self) -> None:
        """Keep a copy of the state as it is; nothing for a stack that has none yet."""
        self._latest()
        for path in self._folder.glob(f"*/{self._name}"):
            copy = self._copies / path.relative_to(self._folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            write_private(copy, path.read_bytes())

    def creating(self) -> list[State]:
        """Return the resources whose creation a provider has not confirmed yet."""
        return [op["resource"] for op in self._latest().get("pending_operations") or () if op["type"] == "creating"]

    def resources(self) -> list[State]:
        return self._latest().get("resources") or []

    def outputs(self) -> dict[str, Any]:
        """Return the stack's outputs by name; empty for a stack that was never brought up."""
        return next((dict(r.get("outputs") or {}) for r in self.resources() if r["type"] == _STACK), {})

    def clusters(self) -> set[str]:
        """Return the cloud ids of the clusters that the stack declares or has pools in."""
        return {r["id"] for r in self.resources() if r["type"] in CLUSTERS} | {
            r["id"].rsplit("/", 2)[0] for r in self.resources() if r["type"] in POOLS
        }

    def _latest(self) -> dict[str, Any]:
        # The state has one folder for each project, and a home has one project.
        for path in self._folder.glob(f"*/{self._name}"):
            content = read_json(path, self._remedy(path))
            try:
                if content.get("version", _NEWEST) > _NEWEST:
                    raise SandboxError(
                        f"the state of stack {self._stack!r} is of version {content['version']}, and this Pulumi reads up to "
                        f"{_NEWEST}: {path}. Nothing was changed.\n  Take the checkout whose Pulumi wrote it; or "
                        f"{self._remedy(path)}"
                    )
                return dict(content["checkpoint"]["latest"] or {})
            except (AttributeError, KeyError, TypeError) as broken:
                raise Unreadable(path, repr(broken), self._remedy(path)) from broken
        for copy in self._copies.glob(f"*/{self._name}"):
            path = self._folder / copy.relative_to(self._copies)
            raise SandboxError(
                f"the state of stack {self._stack!r} is gone: {path}. Nothing was changed.\n  {self._remedy(path)}"
            )
        return {}

    def _remedy(self, path: Path) -> str:
        copy = self._copies / path.relative_to(self._folder)
        if not copy.exists():
            return ANEW
        command = shlex.join(["cp", str(copy), str(path)])
        return f"`{command}` brings back the last good one, and `up` adds what was made since"
