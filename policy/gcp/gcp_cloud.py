"""The registration of Google Cloud."""

from __future__ import annotations

from policy.cloud import Cloud
from policy.gcp import gcp_access, gcp_cluster
from policy.gcp.gcp_pools import CLUSTER, POOL, pools

CLOUD = Cloud(
    cluster=CLUSTER,
    # https://docs.cloud.google.com/kubernetes-engine/docs/how-to/creating-managing-labels
    tags={CLUSTER: "resourceLabels", POOL: "nodeConfig.resourceLabels"},
    pools=pools,
    api_server=gcp_cluster.api_server,
    checks={
        "broad-role": gcp_access.broad_roles,
        "role-for-everybody": gcp_access.roles_for_everybody,
        "storage-open": gcp_access.open_storage,
        "local-accounts": gcp_cluster.local_accounts,
        "node-metadata-open": gcp_cluster.node_metadata,
        "public-nodes": gcp_cluster.public_nodes,
        "network-policy-missing": gcp_cluster.network_policy,
        "secrets-key-missing": gcp_cluster.secrets_key,
        "shielded-nodes-off": gcp_cluster.shielded_nodes,
        "secure-boot-off": gcp_cluster.secure_boot,
        "workload-identity-missing": gcp_cluster.workload_identity,
    },
    logs=gcp_cluster.logs,
)
