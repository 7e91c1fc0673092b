"""The registration of Azure."""

from __future__ import annotations

from collections.abc import Iterator

from policy.azure import azure_access, azure_cluster, azure_karpenter, azure_pools
from policy.azure.azure_pools import CLUSTER, POOL
from policy.cloud import Cloud, Pool
from policy.declared import Declared


def _pools(declared: Declared) -> Iterator[Pool]:
    yield from azure_pools.pools(declared)
    yield from azure_karpenter.pools(declared)


CLOUD = Cloud(
    cluster=CLUSTER,
    # https://learn.microsoft.com/azure/aks/use-tags
    tags={
        CLUSTER: "tags",
        POOL: "tags",
        azure_karpenter.CLASS: "spec.tags",
        "azure-native:resources:ResourceGroup": "tags",
    },
    pools=_pools,
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
