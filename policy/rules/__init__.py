"""The rules of the pack."""

from __future__ import annotations

from policy.rule import Rule
from policy.rules import clusters, pods, pools, roles

RULES: tuple[Rule, ...] = (
    pools.GPU_TAINT,
    pools.SPOT_TAINT,
    pools.SYSTEM_POOL,
    pools.BOUNDS,
    roles.BROAD_ROLE,
    roles.EVERYBODY,
    pods.IMAGES,
    pods.HOST,
    clusters.NODE_METADATA,
    clusters.STORAGE,
    clusters.TAGS,
    clusters.PROTECTION,
    clusters.API_SERVER,
    clusters.LOCAL_ACCOUNTS,
    clusters.RUN_COMMAND,
    clusters.PUBLIC_NODES,
    clusters.NETWORK_POLICY,
    clusters.WORKLOAD_IDENTITY,
    clusters.SHIELDED_NODES,
    clusters.LOGS,
    clusters.SECRETS_KEY,
    clusters.SECURE_BOOT,
    clusters.RELEASE,
)
