"""The checkpoint: the engine's state file, read without the engine, which would take half a second."""

import json
from typing import Any

from sandbox.base.cloud_types import CLUSTERS, POOLS
from sandbox.base.errors import SandboxError
from sandbox.base.home import Home

State = dict[str, Any]
"""A resource in the engine's state."""

_STACK = "pulumi:pulumi:Stack"


class Checkpoint:
    """The last written state of one stack. Secrets in it are encrypted. Raises SandboxError for a state that cannot be read."""

    def __init__(self, home: Home) -> None:
        self._folder, self._name = home.backend / ".pulumi" / "stacks", f"{home.stack}.json"

    def exists(self, project: str) -> bool:
        """Return whether the engine's state has this project's stack."""
        self._latest()
        return (self._folder / project / self._name).exists()

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
            try:
                return dict(json.loads(path.read_text())["checkpoint"]["latest"] or {})
            except (ValueError, KeyError, TypeError) as broken:
                raise SandboxError(f"{path} is no state of the engine: {broken!r}") from broken
        return {}
