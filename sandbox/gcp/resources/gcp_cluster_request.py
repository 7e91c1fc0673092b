"""One cluster in a request, as the rules about clusters see it."""

from collections.abc import Callable

from sandbox.cloud.provider import Refused
from sandbox.cloud.rules import ResourceRequest
from sandbox.gcp import gcp_ids
from sandbox.gcp.gcp_errors import GcpRefused


class ClusterRequest(ResourceRequest):
    """A create or an update of a cluster."""

    @property
    def project(self) -> str:
        return gcp_ids.project_of(self.id)

    @property
    def location(self) -> str:
        return self.id.split("/")[3]

    @property
    def channel(self) -> str:
        channel: str = self.body["releaseChannel"]["channel"]
        return channel


Rule = Callable[[ClusterRequest], GcpRefused | Refused | None]
