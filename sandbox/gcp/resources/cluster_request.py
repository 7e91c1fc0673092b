"""One cluster in a request, as the rules about clusters see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.cloud.provider import Refused
from sandbox.cloud.state import Body, Resources
from sandbox.gcp import ids
from sandbox.gcp.errors import GcpRefused


@dataclass
class ClusterRequest:
    """`wanted` is what was sent, `body` what would result, and `current` what there is; None on a create."""

    id: str
    wanted: Body
    body: Body
    current: Body | None
    resources: Resources

    @property
    def project(self) -> str:
        return ids.project_of(self.id)

    @property
    def location(self) -> str:
        return self.id.split("/")[3]

    @property
    def channel(self) -> str:
        found: str = self.body["releaseChannel"]["channel"]
        return found


Rule = Callable[[ClusterRequest], GcpRefused | Refused | None]
