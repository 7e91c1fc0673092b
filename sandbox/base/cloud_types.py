"""Types of clusters and pools of each cloud, and the taint of its spot nodes, for readers of the engine's state and of reports.

One line a cloud. The clouds' own packages (`sandbox.azure`, `sandbox.gcp`) stand on a higher floor.
"""

from typing import NamedTuple


class CloudTypes(NamedTuple):
    """Pulumi's types, and a taint's key."""

    cluster: str
    pool: str
    spot_taint: str


CLOUDS = {
    "azure": CloudTypes(
        "azure-native:containerservice:ManagedCluster",
        "azure-native:containerservice:AgentPool",
        "kubernetes.azure.com/scalesetpriority",
    ),
    "gcp": CloudTypes("gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool", "cloud.google.com/gke-spot"),
}
"""By the provider in stack files."""

CLUSTERS = frozenset(cloud.cluster for cloud in CLOUDS.values())
POOLS = frozenset(cloud.pool for cloud in CLOUDS.values())
SPOT_TAINTS = frozenset(cloud.spot_taint for cloud in CLOUDS.values())
