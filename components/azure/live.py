"""How many nodes the pools of an existing cluster have at this moment.

AKS requires a count in every request although the autoscaler owns it (pulumi-azure-native issue 2943), and takes what it is
sent: a count from the last update would switch off machines that have come since. `ignore_changes` sends just that one.
Decision: docs/adr/0006.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from components.azure.types import GET_CLUSTER
from components.resources import call
from config.placement.node_pools import POOL_LABEL

_MISSING = ("ResourceNotFound", "ResourceGroupNotFound")
"""ARM's codes for a cluster, or its resource group, that does not exist (yet)."""

RETRIED = "kubeflow-spot-retried"
"""The tag that counts how often an `up` has asked again for what had failed."""

_ENDED_BADLY = ("Failed", "Canceled")

_LABELS = "nodeLabels"
"""The only map of a pool with keys of the user's: one more is a difference."""


@dataclass(frozen=True)
class LiveCluster:
    """What a cluster's GET says of its pools; it lists them all, whoever declared them."""

    profiles: Mapping[str, Mapping[str, Any]]
    """By pool name, with the names of the wire."""
    answer: Mapping[str, Any] | None = None
    """The GET's whole answer; None when there is no such cluster."""

    def count(self, pool: str, least: int, most: int, label: str = "") -> int:
        """The count to send for a pool: its nodes now, moved into its bounds.

        A pool that is yet to come has its minimum; but one that takes the place of another generation, which has the same
        `label` under POOL_LABEL and goes right after, as many nodes as that one.
        """
        here = [self.profiles[pool]] if pool in self.profiles else self._labelled(label)
        return int(min(max([least, *(profile.get("count") or 0 for profile in here)]), most))

    def _labelled(self, label: str) -> list[Mapping[str, Any]]:
        return [p for p in self.profiles.values() if label and (p.get("nodeLabels") or {}).get(POOL_LABEL) == label]

    def is_as(self, profile: Mapping[str, Any]) -> bool:
        """Whether the live pool already is as this profile wants it, in everything that the profile says."""
        return profile["name"] in self.profiles and not self.differences(profile)

    def differences(self, profile: Mapping[str, Any]) -> dict[str, Any]:
        """What the live pool has otherwise than this profile wants it, and that it has failed; nothing of one that is not there."""
        live = self.profiles.get(profile["name"])
        if live is None:
            return {}
        state = live.get("provisioningState")
        found = {key: live.get(key) for key, value in profile.items() if not _is_as(key, live.get(key), value)}
        return found | ({"provisioningState": state} if state in _ENDED_BADLY else {})


def retries(found: Mapping[str, Any] | None) -> dict[str, str]:
    """The tag that differs from the one there is if a cluster or pool has failed: an update then asks for it once more.

    What has failed, as a spot pool beyond its quota, is mended by a PUT that says the same again (page
    cluster-node-virtual-machine-failed-state, Azure/AKS issue 4674). The engine would send one, had it not forgotten the failure
    with the refresh that comes before (pulumi issue 17949).
    """
    there = found or {}
    before = str((there.get("tags") or {}).get(RETRIED, ""))
    count = (int(before) if before.isdigit() else 0) + (there.get("provisioningState") in _ENDED_BADLY)
    return {RETRIED: str(count)} if count else {}


def _is_as(key: str, live: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict) and isinstance(live, Mapping) and key != _LABELS:
        # What the service adds to an object is no difference.
        return all(_is_as(name, live.get(name), value) for name, value in wanted.items())
    exact = key in (_LABELS, "nodeTaints")
    return bool(plain(live or None, exact=exact) == plain(wanted or None, exact=exact))


def plain(value: Any, *, exact: bool = False) -> Any:
    """Comparable whatever the order and, unless `exact`, the case: Azure spells as somebody once wrote."""
    if isinstance(value, str):
        return value if exact else value.lower()
    if isinstance(value, list | tuple):
        return sorted(plain(str(one), exact=exact) for one in value)
    return value


def read(resource_group: str, cluster: str, reading: pulumi.InvokeOptions | None = None) -> LiveCluster:
    """The cluster's pools now; none when the cluster does not exist yet.

    Raises `pulumi.RunError` when it cannot be read: no login, or no right to.
    """
    try:
        found = call(GET_CLUSTER, {"resourceGroupName": resource_group, "resourceName": cluster}, reading)
    except Exception as failed:
        # The SDK raises plain Exception for every error of a provider.
        if any(code in str(failed) for code in _MISSING):
            return LiveCluster({})
        place = f"cluster {cluster!r} in resource group {resource_group!r}"
        raise pulumi.RunError(f"cloud: {place} cannot be read\n  {' '.join(str(failed).split())}") from None
    return LiveCluster({str(profile["name"]): profile for profile in found.get("agentPoolProfiles") or ()}, found)
