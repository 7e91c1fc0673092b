"""The registration of Azure."""

from __future__ import annotations

from policy.azure import cluster, storage
from policy.azure.pools import CLUSTER, POOL, pools
from policy.azure.roles import roles
from policy.cloud import Cloud

CLOUD = Cloud(
    cluster=CLUSTER,
    # https://learn.microsoft.com/azure/aks/use-tags
    tags={CLUSTER: "tags", POOL: "tags", "azure-native:resources:ResourceGroup": "tags"},
    pools=pools,
    api_server=cluster.api_server,
    accounts=cluster.accounts,
    roles=roles,
    checks={
        "public-nodes": cluster.public_nodes,
        "network-policy-missing": cluster.network_policy,
        "run-command-on": cluster.run_command,
        "secrets-key-missing": cluster.secrets_key,
        "workload-identity-missing": cluster.workload_identity,
        "storage-open": storage.is_open,
    },
    logs=cluster.logs,
)
