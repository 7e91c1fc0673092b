"""A GKE cluster as `getCluster` tells of it now.

In the answer of a function every nested block is a list, and called so: `nodeConfigs`, `masterAuths`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi

from components.gcp.types import GET_CLUSTER
from components.resources import call
from config.placement.node_pools import POOL_LABEL

EVERYBODY = "0.0.0.0/0"
"""As an authorized network: every address."""


@dataclass(frozen=True)
class LiveCluster:
    """The cluster; empty when there is none."""

    answer: Mapping[str, Any] = field(default_factory=dict)
    """The whole answer."""

    @property
    def pools(self) -> dict[str, Mapping[str, Any]]:
        """All its node pools by name, whoever declared them."""
        return {pool["name"]: pool for pool in self.answer.get("nodePools") or ()}

    @property
    def zones(self) -> list[str]:
        """Where nodes of a pool run that names no zones; empty where that is not known."""
        # A zonal cluster's own zone is not among its nodeLocations (pulumi-gcp, Cluster.nodeLocations).
        location = str(self.answer.get("location", ""))
        own = [location] if location.count("-") == 2 else []
        return sorted({*(self.answer.get("nodeLocations") or ()), *own})

    @property
    def closed(self) -> bool:
        """Whether the address of the API server is closed to some: those that no authorized network has."""
        blocks = self.answer.get("masterAuthorizedNetworksConfigs")
        ranges = {
            one.get("cidrBlock")
            for one in block(self.answer, "masterAuthorizedNetworksConfigs").get("cidrBlocks") or ()
        }
        return bool(blocks) and EVERYBODY not in ranges

    @property
    def security_group(self) -> str:
        """The group of Google Groups for RBAC; empty without."""
        return str(block(self.answer, "authenticatorGroupsConfigs").get("securityGroup") or "")

    def per_zone(self, label: str) -> int:
        """Nodes in each zone of the pools with this label under POOL_LABEL, rounded down as `nodeCount` is."""
        here = (pool for pool in self.pools.values() if (config(pool).get("labels") or {}).get(POOL_LABEL) == label)
        return max((int(pool.get("nodeCount") or 0) for pool in here), default=0)


def block(of: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A nested block by the name of its list; empty where there is none."""
    found = of.get(name) or [{}]
    first: Mapping[str, Any] = found[0] or {}
    return first


def config(pool: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a pool's nodes are."""
    return block(pool, "nodeConfigs")


def read(project: str, location: str, name: str, reading: pulumi.InvokeOptions | None = None) -> LiveCluster:
    """The cluster now, empty when it is not there.

    Raises `pulumi.RunError` when it cannot be read: no login, no right to, an API that the project has not enabled. Then nothing
    may be taken for not being there.
    """
    try:
        return LiveCluster(call(GET_CLUSTER, {"project": project, "location": location, "name": name}, reading))
    except Exception as failed:
        # The SDK raises plain Exception for every error of a provider; these words are of a cluster that is not there
        # (terraform-provider-google-beta, data_source_google_container_cluster.go).
        if f"projects/{project}/locations/{location}/clusters/{name} not found" in str(failed):
            return LiveCluster()
        place = f"cluster {name!r} in {location} of project {project}"
        raise pulumi.RunError(f"cloud: {place} cannot be read\n  {' '.join(str(failed).split())}") from None
