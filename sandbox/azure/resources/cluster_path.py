"""The ids that clusters and pools share."""

from __future__ import annotations

from sandbox.cloud.state import Record, Resources

CLUSTER = "azure-native:containerservice:ManagedCluster"
POOL = "azure-native:containerservice:AgentPool"

# The service spells `resourcegroups` in lower case (azure-cli recording of 2025-07-01).
CLUSTER_PATH = (
    "/subscriptions/{subscriptionId}/resourcegroups/{resourceGroupName}"
    "/providers/Microsoft.ContainerService/managedClusters/{resourceName}"
)


def pools_of(resources: Resources, cluster_id: str) -> list[Record]:
    """A cluster's pools, inline and standalone, in order of creation."""
    return resources.of(POOL, below=cluster_id)
