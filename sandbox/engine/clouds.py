"""The emulated clouds of one home: Azure and Google Cloud, each with a memory of its own.

A home may have resources in either or both, so every command has both at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sandbox.azure import AzureCloud
from sandbox.azure.quotas import Quotas as AzureQuotas
from sandbox.base.home import Home
from sandbox.cloud.node_groups import PoolStatus
from sandbox.cluster import clusters
from sandbox.gcp.cloud import GcpCloud
from sandbox.gcp.quotas import Quotas as GcpQuotas

if TYPE_CHECKING:
    from sandbox.cloud.provider import Provider
    from sandbox.cloud.state import Body

AZURE_STATE = "azure.json"
GCP_STATE = "gcp.json"
"""The clouds' memories, in the home's folder for clouds."""

AZURE, GCP = "azure-native", "gcp"
"""The clouds by the names of their providers."""


class Cloud(Protocol):
    """What commands ask of any emulated cloud. Ids are the cloud's own."""

    def get(self, id: str) -> Body | None:
        """What GET returns; None for a 404."""

    def delete(self, id: str) -> None:
        """Delete a resource and all that is in it; one that is gone already is no error. Raises `Refused`."""

    def reconcile(self) -> None:
        """Finish what a killed process began. Raises `InitFailed`."""

    def pools(self) -> list[PoolStatus]:
        """Every pool of every cluster."""
        ...

    def scale(self, cluster_name: str, pool: str, count: int, *, force: bool = False) -> None:
        """Change a pool's size: within its bounds, as the autoscaler does, or by `force`. Raises ScaleRefused."""

    def settable(self, id: str) -> Collection[str]:
        """The properties of this resource that a request may set. Raises KeyError for no resource."""
        ...

    def edit(self, id: str, before: Body, after: Body) -> None:
        """Change what differs, as a client does that has read a resource. Raises `Refused` and `InitFailed`."""


@dataclass(frozen=True)
class Clouds:
    """Both clouds."""

    azure: AzureCloud
    gcp: GcpCloud

    def __iter__(self) -> Iterator[Cloud]:
        yield self.azure
        yield self.gcp

    def provider(self, package: str) -> Provider:
        """A provider over the cloud of this package, such as `gcp`. Raises KeyError for another."""
        if package == GCP:
            from sandbox.gcp.provider import GcpProvider

            return GcpProvider(self.gcp)
        if package == AZURE:
            from sandbox.azure.provider import AzureProvider

            return AzureProvider(self.azure)
        raise KeyError(package)

    def holding(self, id: str) -> Cloud:
        """The cloud that ids of this form belong to: Azure's begin with a slash."""
        return self.azure if id.startswith("/") else self.gcp

    def pools(self) -> list[PoolStatus]:
        return [pool for cloud in self for pool in cloud.pools()]


def opened(home: Home, programs: Callable[[], Mapping[str, Path]], report: Callable[[str], None]) -> Clouds:
    """The emulated clouds of a home; `programs` is asked only when a control plane is to start."""
    azure, gcp = home.cloud / AZURE_STATE, home.cloud / GCP_STATE
    azure_clusters = clusters.LocalClusters(home.clusters, "azure", programs, report, azure)
    gcp_clusters = clusters.LocalClusters(home.clusters, "gcp", programs, report, gcp)
    return Clouds(
        AzureCloud(azure, azure_clusters, quotas=AzureQuotas.kept(home.cloud)),
        GcpCloud(gcp, gcp_clusters, quotas=GcpQuotas.kept(home.cloud)),
    )
