"""The registration of Google Cloud."""

from __future__ import annotations

from policy.cloud import Cloud
from policy.gcp import gcp_cluster, gcp_roles, gcp_storage
from policy.gcp.gcp_pools import CLUSTER, POOL, pools

CLOUD = Cloud(
    cluster=CLUSTER,
    # https://docs.cloud.google.com/kubernetes-engine/docs/how-to/creating-managing-labels
    tags={CLUSTER: "resourceLabels", POOL: "nodeConfig.resourceLabels"},
    pools=pools,
    api_server=gcp_cluster.api_server,
    accounts=gcp_cluster.accounts,
    roles=gcp_roles.roles,
    checks={
        "role-for-everybody": gcp_roles.everybody,
        "node-metadata-open": gcp_cluster.node_metadata,
        "public-nodes": gcp_cluster.public_nodes,
        "network-policy-missing": gcp_cluster.network_policy,
        "secrets-key-missing": gcp_cluster.secrets_key,
        "shielded-nodes-off": gcp_cluster.shielded_nodes,
        "secure-boot-off": gcp_cluster.secure_boot,
        "workload-identity-missing": gcp_cluster.workload_identity,
        "storage-open": gcp_storage.is_open,
    },
    logs=gcp_cluster.logs,
)
