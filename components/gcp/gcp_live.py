"""A GKE cluster as `getCluster` shows it now.

In the answer of a function every nested block is a list, with a name in the plural: `nodeConfigs`,
`masterAuths`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi
from pulumi_gcp import container

from components.pools import STACK_TAG
from components.removed_pools import LivePool
from components.resources import explain_refusal, wire
from config.placement.node_pools import POOL_LABEL

EVERYBODY = "0.0.0.0/0"
"""The authorized network of all addresses."""


@dataclass(frozen=True)
class LiveCluster:
    """The cluster; empty when it does not exist."""

    answer: Mapping[str, Any] = field(default_factory=dict)
    """The whole answer."""

    @property
    def pools(self) -> dict[str, Mapping[str, Any]]:
        """All its node pools by name, this stack's and others."""
        return {pool["name"]: pool for pool in self.answer.get("nodePools") or ()}

    @property
    def zones(self) -> list[str]:
        """Zones of a pool that names none; empty if unknown."""
        # A zonal cluster's own zone is not among its nodeLocations (pulumi-gcp,
        # Cluster.nodeLocations).
        location = str(self.answer.get("location", ""))
        own = [location] if location.count("-") == 2 else []
        return sorted({*(self.answer.get("nodeLocations") or ()), *own})

    @property
    def closed(self) -> bool:
        """Whether only authorized networks reach the API server's address."""
        blocks = self.answer.get("masterAuthorizedNetworksConfigs")
        ranges = {
            range.get("cidrBlock")
            for range in block(self.answer, "masterAuthorizedNetworksConfigs").get("cidrBlocks")
            or ()
        }
        return bool(blocks) and EVERYBODY not in ranges

    @property
    def refuses_everybody(self) -> bool:
        """Whether new RoleBindings to any of the groups of everybody are refused."""
        return False in block(self.answer, "rbacBindingConfigs").values()

    @property
    def security_group(self) -> str:
        """The group of Google Groups for RBAC; empty without."""
        return str(block(self.answer, "authenticatorGroupsConfigs").get("securityGroup") or "")

    @property
    def dns_name(self) -> str | None:
        """The DNS name if users reach the API server by it (`gcp_credentials.reached_by_dns`)."""
        ways = block(self.answer, "controlPlaneEndpointsConfigs")
        dns = block(ways, "dnsEndpointConfigs")
        open_to_all = (
            block(ways, "ipEndpointsConfigs").get("enabled", True)
            and not block(self.answer, "privateClusterConfigs").get("enablePrivateEndpoint")
            and not self.closed
        )
        usable = dns.get("allowExternalTraffic") and not open_to_all
        return str(dns["endpoint"]) if usable else None

    @property
    def live_pools(self) -> list[LivePool]:
        """All its node pools, as `removed_pools` judges them."""
        return [
            LivePool(
                name,
                config(pool).get("labels") or {},
                spot=bool(config(pool).get("spot") or config(pool).get("preemptible")),
                nodes=_nodes(pool),
                stack=(config(pool).get("resourceLabels") or {}).get(STACK_TAG),
            )
            for name, pool in sorted(self.pools.items())
        ]

    def private(self, pool: str) -> bool | None:
        """Return whether a pool's nodes have private addresses only; None where that is unknown."""
        return block(self.pools.get(pool, {}), "networkConfigs").get("enablePrivateNodes")

    def per_zone(self, label: str) -> int:
        """Return the nodes in each zone of pools with this label, rounded down like `nodeCount`."""
        here = (
            pool
            for pool in self.pools.values()
            if (config(pool).get("labels") or {}).get(POOL_LABEL) == label
        )
        return max((int(pool.get("nodeCount") or 0) for pool in here), default=0)


def block(of: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a nested block by the name of its list; empty when it is missing."""
    blocks = of.get(name) or [{}]
    first: Mapping[str, Any] = blocks[0] or {}
    return first


def at(of: Mapping[str, Any], path: str) -> Any:
    """Return the value of a property path, whose blocks are lists in the plural; None without."""
    value: Any = of
    for name in path.split("."):
        value = value[0] if isinstance(value, list) and value else value
        value = value if isinstance(value, Mapping) else {}
        plurals = (name, f"{name}s", f"{name}es", f"{name.removesuffix('y')}ies")
        value = next((value[known] for known in plurals if known in value), None)
    return value


def config(pool: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of a pool's nodes."""
    return block(pool, "nodeConfigs")


def _nodes(pool: Mapping[str, Any]) -> int | None:
    """Return the number of a pool's nodes; None where it is unknown.

    `nodeCount` is that of each zone, rounded down (terraform-provider-google,
    resource_container_node_pool.go, flattenNodePool).
    """
    count, zones = pool.get("nodeCount"), len(pool.get("nodeLocations") or ())
    return int(count) if count is not None and zones == 1 else None


def read_cluster(
    project: str, location: str, name: str, reading: pulumi.InvokeOptions | None = None
) -> LiveCluster:
    """Read the cluster; return an empty one if it does not exist.

    Raise `pulumi.RunError` if it cannot be read: no login, no right, or an API that the project has
    not enabled. Such a refusal does not mean a missing cluster.
    """
    with explain_refusal(
        f"cloud: cluster {name!r} in {location} of project {project}", "container.clusters.get"
    ):
        try:
            return LiveCluster(
                wire(
                    container.get_cluster(
                        project=project, location=location, name=name, opts=reading
                    )
                )
            )
        except Exception as failed:
            # These words mean a missing cluster (terraform-provider-google-beta,
            # data_source_google_container_cluster.go).
            if f"projects/{project}/locations/{location}/clusters/{name} not found" in str(failed):
                return LiveCluster()
            raise
