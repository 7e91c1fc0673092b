"""A cluster in a request, as the rules about clusters see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.azure.errors import AzureRefused
from sandbox.cloud.state import Body, Resources


@dataclass
class ClusterRequest:
    """A PUT of a cluster. `wanted` is what was sent, `body` what would result (defaults added for `check_result`)."""

    id: str
    name: str
    wanted: Body
    current: Body | None
    body: Body
    resources: Resources

    def part(self, name: str) -> Body:
        """One of the objects in what would result; empty when there is none."""
        found: Body = self.body.get(name) or {}
        return found

    @property
    def identities(self) -> list[str]:
        """The ids of the cluster's user-assigned identities."""
        return list(self.part("identity").get("userAssignedIdentities", []))


Rule = Callable[[ClusterRequest], AzureRefused | None]
