"""The rules of the pack."""

from __future__ import annotations

from policy.rule import Rule
from policy.rules import (
    accounts,
    api_server,
    bounds,
    hardening,
    host,
    images,
    protection,
    releases,
    roles,
    system,
    tags,
    taints,
)

RULES: tuple[Rule, ...] = (
    taints.GPU_POOL,
    taints.SPOT_POOL,
    system.SYSTEM_POOL,
    bounds.POOL,
    roles.ROLES,
    roles.EVERYBODY,
    images.IMAGES,
    host.PODS,
    hardening.NODE_METADATA,
    hardening.STORAGE,
    tags.TAGS,
    protection.CLUSTER,
    api_server.API_SERVER,
    accounts.ACCOUNTS,
    hardening.RUN_COMMAND,
    hardening.PUBLIC_NODES,
    hardening.NETWORK_POLICY,
    hardening.WORKLOAD_IDENTITY,
    hardening.SHIELDED_NODES,
    hardening.LOGS,
    hardening.SECRETS_KEY,
    hardening.SECURE_BOOT,
    releases.RELEASE,
)
