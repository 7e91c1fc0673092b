"""The types of clusters and their pools, and the id of one from the other's."""

from sandbox.cloud.state import Record, Resources

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"


def pools_of(resources: Resources, cluster_id: str) -> list[Record]:
    return resources.of(POOL, below=cluster_id)
