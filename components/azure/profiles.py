"""The parts of a ManagedCluster, one translation each: from the stack file's words to AKS' own. Pure.

What can be switched off again is sent either way: an update that leaves a property out leaves the cluster as it is
(pulumi-azure-native issues 1686 and 2719 for pools). What is fixed for the cluster's life is sent only when it differs from
AKS' default: azure-native replaces a cluster for such a property that was not there before.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network
from typing import Any

import pulumi

from config.clouds.azure import unready
from config.clouds.azure.settings import (
    Azure,
    AzureAccess,
    AzureEncryption,
    AzureNetwork,
    AzureSsh,
    AzureUpgrades,
    AzureWindow,
    pinned_autoscaler,
)
from config.clouds.azure.unready import Bounds
from config.model.pool import Capacity
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool

_BOOLEANS = (
    "daemonsetEvictionForEmptyNodes",
    "daemonsetEvictionForOccupiedNodes",
    "ignoreDaemonsetsUtilization",
)
"""The only fields of the autoscaler that AKS does not want as text."""


def autoscaler(spec: ClusterSpec, node_pools: Sequence[NodePool]) -> dict[str, Any]:
    """The cluster-wide autoscaler settings: the stack's, else the release's. AKS takes strings.

    How many nodes may be unready follows from the pools' bounds (`config.clouds.azure.unready`).
    """
    assert isinstance(spec.cloud, Azure)
    assert spec.system_pool
    release, own = pinned_autoscaler(spec.release), spec.cloud.autoscaler
    bounds = [Bounds(pool.name, pool.min_nodes, pool.max_nodes, pool.capacity == Capacity.SPOT) for pool in node_pools]
    tolerant = unready.chosen(own, release, bounds, spec.system_pool.min_nodes)
    chosen = {
        **release.model_dump(exclude_none=True, by_alias=True),
        **own.model_dump(exclude_none=True, by_alias=True),
        "okTotalUnreadyCount": tolerant.count,
        "maxTotalUnreadyPercentage": tolerant.percentage,
    }
    return {key: value if key in _BOOLEANS else _text(value) for key, value in sorted(chosen.items())}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def network(spec: AzureNetwork) -> dict[str, Any]:
    """Ranges inside the cluster, and how packets leave it."""
    profile = {
        "networkPlugin": "azure",
        "networkPluginMode": "overlay",
        "podCidr": spec.pod_cidr,
        "serviceCidr": spec.service_cidr,
        "dnsServiceIP": dns_service_ip(spec.service_cidr),
    }
    chosen = {
        "networkDataplane": spec.dataplane,
        "networkPolicy": spec.policy or "none",
        "outboundType": spec.outbound_type,
    }
    defaults = {"networkDataplane": "azure", "networkPolicy": "none", "outboundType": "loadBalancer"}
    return profile | {key: value for key, value in chosen.items() if value != defaults[key]}


def dns_service_ip(service_cidr: str) -> str:
    """The tenth address of the service range, as AKS itself chooses for its default range."""
    return str(IPv4Network(service_cidr)[10])


def api_server(spec: AzureAccess) -> dict[str, Any]:
    """Who reaches the API server."""
    profile: dict[str, Any] = {"disableRunCommand": not spec.run_command}
    if spec.private:
        zone = {"privateDNSZone": spec.private_dns_zone} if spec.private_dns_zone else {}
        return profile | {"enablePrivateCluster": True} | zone
    return profile | {"authorizedIPRanges": list(spec.authorized_ranges)}


def entra(spec: AzureAccess) -> dict[str, Any] | None:
    """Logins through Microsoft Entra; None without. AKS cannot switch them off again (page enable-authentication)."""
    if not spec.entra:
        return None
    profile: dict[str, Any] = {
        "managed": True,
        "enableAzureRBAC": spec.azure_rbac,
        "adminGroupObjectIDs": list(spec.admin_groups),
    }
    return profile | ({"tenantID": spec.tenant_id} if spec.tenant_id else {})


def upgrades(spec: AzureUpgrades) -> dict[str, Any]:
    """What AKS upgrades by itself."""
    return {"upgradeChannel": spec.channel, "nodeOSUpgradeChannel": spec.node_os_channel}


def maintenance_window(spec: AzureWindow) -> dict[str, Any]:
    """A weekly window (page planned-maintenance)."""
    return {
        "schedule": {"weekly": {"dayOfWeek": spec.day, "intervalWeeks": spec.every_weeks}},
        "startTime": spec.start_time,
        "utcOffset": spec.utc_offset,
        "durationHours": spec.duration_hours,
    }


def linux(spec: AzureSsh | None) -> dict[str, Any] | None:
    """The login on the nodes; None without."""
    if spec is None:
        return None
    return {"adminUsername": spec.username, "ssh": {"publicKeys": [{"keyData": spec.public_key}]}}


def security(spec: AzureEncryption) -> dict[str, Any]:
    """Workload identity, and the key of etcd's Secrets."""
    profile: dict[str, Any] = {"workloadIdentity": {"enabled": True}}
    if spec.kms:
        # A vault without public access needs an API server in the network; `config.rules` refuses it.
        profile["azureKeyVaultKms"] = {
            "enabled": True,
            "keyId": spec.kms.key_id,
            "keyVaultNetworkAccess": "Public",
        }
    return profile


def addons(log_workspace: pulumi.Input[str] | None) -> dict[str, Any]:
    """Container insights, by the agent's own identity (page monitor-aks; the keys are the add-on's spelling)."""
    if log_workspace is None:
        return {"omsagent": {"enabled": False}}
    return {
        "omsagent": {
            "enabled": True,
            "config": {"logAnalyticsWorkspaceResourceID": log_workspace, "useAADAuth": "true"},
        }
    }
