"""A cluster in a request, as the rules about clusters see it."""

from collections.abc import Callable

from sandbox.azure import azure_ids
from sandbox.azure.azure_errors import AzureRefused
from sandbox.cloud.rules import ResourceRequest
from sandbox.cloud.state import Body


class ClusterRequest(ResourceRequest):
    """A PUT of a cluster; `body` has defaults once the rules of `RESULT` see it."""

    @property
    def name(self) -> str:
        return azure_ids.last(self.id)

    def part(self, name: str) -> Body:
        """One of the objects in the resulting body; empty when it is missing."""
        part: Body = self.body.get(name) or {}
        return part

    @property
    def identities(self) -> list[str]:
        """The ids of the cluster's user-assigned identities."""
        return list(self.part("identity").get("userAssignedIdentities", []))


Rule = Callable[[ClusterRequest], AzureRefused | None]
