"""A cluster with all its pools, inline and standalone, as a request would leave them."""

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.azure import azure_ids
from sandbox.azure.azure_errors import AzureRefused
from sandbox.cloud.state import Body, Record, Resources


@dataclass(frozen=True)
class ClusterPools:
    """The bodies that would result; `deleting` when a pool is taken away."""

    cluster: Body
    pools: list[Body]
    resources: Resources
    deleting: bool = False

    @property
    def network(self) -> Body:
        profile: Body = self.cluster["networkProfile"]
        return profile

    @property
    def subnets(self) -> list[Record]:
        """The subnets of nodes and pods that exist, each once."""
        named = [pool.get(field) for pool in self.pools for field in ("vnetSubnetID", "podSubnetID")]
        records = {azure_ids.key(id): self.resources.get(id) for id in named if id}
        return [record for record in records.values() if record is not None]


Rule = Callable[[ClusterPools], AzureRefused | None]
