"""The registration of Google Cloud."""

from __future__ import annotations

from policy.cloud import Cloud
from policy.gcp import cluster, roles, storage
from policy.gcp.pools import CLUSTER, POOL, pools

CLOUD = Cloud(
    cluster=CLUSTER,
    # https://docs.cloud.google.com/kubernetes-engine/docs/how-to/creating-managing-labels
    tags={CLUSTER: "resourceLabels", POOL: "nodeConfig.resourceLabels"},
    pools=pools,
    api_server=cluster.api_server,
    accounts=cluster.accounts,
    roles=roles.roles,
    checks={
        "role-for-everybody": roles.everybody,
        "node-metadata-open": cluster.node_metadata,
        "public-nodes": cluster.public_nodes,
        "network-policy-missing": cluster.network_policy,
        "secrets-key-missing": cluster.secrets_key,
        "shielded-nodes-off": cluster.shielded_nodes,
        "secure-boot-off": cluster.secure_boot,
        "workload-identity-missing": cluster.workload_identity,
        "storage-open": storage.is_open,
    },
    logs=cluster.logs,
)
