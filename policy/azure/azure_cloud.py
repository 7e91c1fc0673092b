"""The registration of Azure."""

from __future__ import annotations

from policy.azure import azure_access, azure_cluster
from policy.azure.azure_pools import CLUSTER, POOL, pools
from policy.cloud import Cloud

CLOUD = Cloud(
    cluster=CLUSTER,
    # https://learn.microsoft.com/azure/aks/use-tags
    tags={CLUSTER: "tags", POOL: "tags", "azure-native:resources:ResourceGroup": "tags"},
    pools=pools,
    api_server=azure_cluster.api_server,
    checks={
        "broad-role": azure_access.broad_roles,
        "storage-open": azure_access.open_storage,
        "local-accounts": azure_cluster.local_accounts,
        "public-nodes": azure_cluster.public_nodes,
        "network-policy-missing": azure_cluster.network_policy,
        "run-command-on": azure_cluster.run_command,
        "secrets-key-missing": azure_cluster.secrets_key,
        "workload-identity-missing": azure_cluster.workload_identity,
    },
    logs=azure_cluster.logs,
)
