"""The rules of the pack."""

from __future__ import annotations

from policy.rule import Rule
from policy.rules import accounts, api_server, bounds, images, protection, releases, roles, system, tags, taints

RULES: tuple[Rule, ...] = (
    taints.GPU_POOL,
    taints.SPOT_POOL,
    system.SYSTEM_POOL,
    bounds.POOL,
    roles.ROLES,
    images.IMAGES,
    tags.TAGS,
    protection.CLUSTER,
    api_server.API_SERVER,
    accounts.ACCOUNTS,
    releases.RELEASE,
)
