"""Rules of AKS on upgrade settings of regular pools (page upgrade-aks-node-pools-rolling); texts UNCONFIRMED.

For spot pools see `spot_rules`.
"""

import re

from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources.azure_pool_request import PoolRequest, invalid
from sandbox.cloud import rules

_NODES = re.compile(r"[0-9]{1,4}|[0-9]{1,3}%")
_NONE = ("0", "0%")
_MINUTES = {"drainTimeoutInMinutes": range(5, 1441), "nodeSoakDurationInMinutes": range(31)}


@rules.as_read
def nodes_at_once(request: PoolRequest) -> AzureRefused | None:
    # A number of nodes or a percentage of the pool.
    settings = request.wanted.get("upgradeSettings", {})
    for field in ("maxSurge", "maxUnavailable"):
        text = settings.get(field, "0")
        if not _NODES.fullmatch(text) or (text.endswith("%") and int(text[:-1]) > 100):
            return invalid(f"agentPoolProfile.upgradeSettings.{field}")
    return None


@rules.as_read
def minutes(request: PoolRequest) -> AzureRefused | None:
    settings = request.wanted.get("upgradeSettings", {})
    for field, allowed in _MINUTES.items():
        if settings.get(field, allowed[0]) not in allowed:
            return invalid(f"agentPoolProfile.upgradeSettings.{field}", f"It must be {allowed[0]} to {allowed[-1]}")
    return None


@rules.as_read
def system_unavailable(request: PoolRequest) -> AzureRefused | None:
    unavailable = request.body.get("upgradeSettings", {}).get("maxUnavailable", "0")
    if not request.system or unavailable in _NONE:
        return None
    return invalid("agentPoolProfile.upgradeSettings.maxUnavailable", "System pools can't set maxUnavailable")


@rules.as_read
def surge(request: PoolRequest) -> AzureRefused | None:
    # Both above 0 is a preview feature, which needs the preview API.
    if request.spot:
        return None
    settings = request.body["upgradeSettings"]
    surging, unavailable = (settings[field] not in _NONE for field in ("maxSurge", "maxUnavailable"))
    if surging != unavailable:
        return None
    text = "maxSurge and maxUnavailable cannot both be " + ("set." if surging else "0.")
    return aks("InvalidParameter", text, "agentPoolProfile.upgradeSettings.maxSurge")
