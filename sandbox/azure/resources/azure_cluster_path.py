"""The ids that clusters and pools share."""

from sandbox.cloud.state import Record, Resources

CLUSTER = "azure-native:containerservice:ManagedCluster"
POOL = "azure-native:containerservice:AgentPool"


def pools_of(resources: Resources, cluster_id: str) -> list[Record]:
    """A cluster's pools, inline and standalone, in order of creation."""
    return resources.of(POOL, below=cluster_id)
