"""Clusters and pools in a request, as the rules see them."""

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.cloud.provider import Refused
from sandbox.cloud.rules import ResourceRequest
from sandbox.cloud.state import Body, Record, Resources
from sandbox.gcp import gcp_ids
from sandbox.gcp.gcp_catalogue import Machine, machines
from sandbox.gcp.gcp_errors import GcpRefused

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"


def pools_of(resources: Resources, cluster_id: str) -> list[Record]:
    return resources.of_type(POOL, below=cluster_id)


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


ClusterRule = Callable[[ClusterRequest], GcpRefused | Refused | None]


@dataclass
class PoolRequest(ResourceRequest):
    """A create or an update of a pool of `cluster`."""

    cluster: Body

    @property
    def name(self) -> str:
        return gcp_ids.last(self.id)

    @property
    def config(self) -> Body:
        config: Body = self.body["nodeConfig"]
        return config

    @property
    def zones(self) -> list[str]:
        zones: list[str] = self.body["nodeLocations"]
        return zones

    @property
    def machine(self) -> Machine:
        """Raises KeyError for a type that is not in the catalogue; the rule about it comes first."""
        return machines()[self.config["machineType"]]

    @property
    def accelerators(self) -> list[Body]:
        """The GPUs that were declared, without empty entries."""
        return [accelerator for accelerator in self.config.get("guestAccelerators") or [] if accelerator.get("count")]


PoolRule = Callable[[PoolRequest], GcpRefused | None]
