"""How many nodes the pools of an existing cluster have at this moment.

AKS requires a count in every request although the autoscaler owns it (pulumi-azure-native issue 2943), and takes what it is
sent: a count from the last update would switch off machines that have come since. `ignore_changes` sends just that one.
Decision: docs/adr/0006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pulumi_azure_native import containerservice

_MISSING = ("ResourceNotFound", "ResourceGroupNotFound")
"""ARM's codes for a cluster, or its resource group, that does not exist (yet)."""


@dataclass(frozen=True)
class LiveCluster:
    """What a cluster's GET says of its pools; it lists them all, whoever declared them."""

    profiles: dict[str, Any]
    """By pool name: `ManagedClusterAgentPoolProfileResponse`."""

    def count(self, pool: str, least: int, most: int) -> int:
        """The count to send for a pool: its nodes now, moved into its bounds; the minimum of a pool that is yet to come."""
        profile = self.profiles.get(pool)
        now = profile.count if profile and profile.count is not None else least
        return int(min(max(now, least), most))

    def is_as(self, profile: dict[str, Any]) -> bool:
        """Whether the live pool already is as this profile wants it, in everything that is known beforehand."""
        live = self.profiles.get(profile["name"])
        if live is None:
            return False
        wanted = {key: value for key, value in profile.items() if key not in _ELSEWHERE}
        return all((getattr(live, key) or None) == (value or None) for key, value in wanted.items())


_ELSEWHERE = frozenset({"vnet_subnet_id"})
"""Known only during the update, and fixed for a pool's life."""


def read(resource_group: str, cluster: str) -> LiveCluster:
    """The cluster's pools now; none when the cluster does not exist yet. Raises what the provider's read raises."""
    try:
        found = containerservice.get_managed_cluster(resource_group_name=resource_group, resource_name=cluster)
    except Exception as failed:
        # The SDK raises plain Exception for every error of a provider.
        if any(code in str(failed) for code in _MISSING):
            return LiveCluster({})
        raise
    return LiveCluster({str(profile.name): profile for profile in found.agent_pool_profiles or ()})
