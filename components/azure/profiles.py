"""The parts of a ManagedCluster, one translation each: from the stack file's words to AKS' own. Pure.

What can be switched off again is sent either way: an update that leaves a property out leaves the cluster as it is
(pulumi-azure-native issues 1686 and 2719 for pools). What is fixed for the cluster's life is sent only when it differs from
AKS' default: azure-native replaces a cluster for such a property that was not there before.
"""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any

import pulumi

from spec.azure import (
    AzureAccess,
    AzureAutoscaler,
    AzureEncryption,
    AzureNetwork,
    AzureSsh,
    AzureUpgrades,
    AzureWindow,
)

_BOOLEANS = (
    "daemonset_eviction_for_empty_nodes",
    "daemonset_eviction_for_occupied_nodes",
    "ignore_daemonsets_utilization",
)
"""The only fields of the autoscaler that AKS does not want as text."""


def autoscaler(spec: AzureAutoscaler, release: AzureAutoscaler) -> dict[str, Any]:
    """The cluster-wide autoscaler settings: the stack's, else the release's. AKS takes strings."""
    chosen = {**release.model_dump(exclude_none=True), **spec.model_dump(exclude_none=True)}
    return {key: value if key in _BOOLEANS else _text(value) for key, value in sorted(chosen.items())}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def network(spec: AzureNetwork) -> dict[str, Any]:
    """Ranges inside the cluster, and how packets leave it."""
    profile = {
        "network_plugin": "azure",
        "network_plugin_mode": "overlay",
        "pod_cidr": spec.pod_cidr,
        "service_cidr": spec.service_cidr,
        "dns_service_ip": dns_service_ip(spec.service_cidr),
    }
    chosen = {
        "network_dataplane": spec.dataplane,
        "network_policy": spec.policy,
        "outbound_type": spec.outbound_type,
    }
    defaults = {"network_dataplane": "azure", "network_policy": "none", "outbound_type": "loadBalancer"}
    return profile | {key: value for key, value in chosen.items() if value != defaults[key]}


def dns_service_ip(service_cidr: str) -> str:
    """The tenth address of the service range, as AKS itself chooses for its default range."""
    return str(IPv4Network(service_cidr)[10])


def api_server(spec: AzureAccess) -> dict[str, Any]:
    """Who reaches the API server."""
    profile: dict[str, Any] = {"disable_run_command": not spec.run_command}
    if spec.private:
        zone = {"private_dns_zone": spec.private_dns_zone} if spec.private_dns_zone else {}
        return profile | {"enable_private_cluster": True} | zone
    return profile | {"authorized_ip_ranges": list(spec.authorized_ranges)}


def entra(spec: AzureAccess) -> dict[str, Any] | None:
    """Logins through Microsoft Entra; None without. AKS cannot switch them off again (page enable-authentication)."""
    if not spec.entra:
        return None
    profile: dict[str, Any] = {
        "managed": True,
        "enable_azure_rbac": spec.azure_rbac,
        "admin_group_object_ids": list(spec.admin_groups),
    }
    return profile | ({"tenant_id": spec.tenant_id} if spec.tenant_id else {})


def upgrades(spec: AzureUpgrades) -> dict[str, Any]:
    """What AKS upgrades by itself."""
    return {"upgrade_channel": spec.channel, "node_os_upgrade_channel": spec.node_os_channel}


def maintenance_window(spec: AzureWindow) -> dict[str, Any]:
    """A weekly window (page planned-maintenance)."""
    return {
        "schedule": {"weekly": {"day_of_week": spec.day, "interval_weeks": spec.every_weeks}},
        "start_time": spec.start_time,
        "utc_offset": spec.utc_offset,
        "duration_hours": spec.duration_hours,
    }


def linux(spec: AzureSsh | None) -> dict[str, Any] | None:
    """The login on the nodes; None without."""
    if spec is None:
        return None
    return {"admin_username": spec.username, "ssh": {"public_keys": [{"key_data": spec.public_key}]}}


def security(spec: AzureEncryption) -> dict[str, Any]:
    """Workload identity, and the key of etcd's Secrets."""
    profile: dict[str, Any] = {"workload_identity": {"enabled": True}}
    if spec.kms:
        # A vault without public access needs an API server in the network; `spec.rules` refuses it.
        profile["azure_key_vault_kms"] = {
            "enabled": True,
            "key_id": spec.kms.key_id,
            "key_vault_network_access": "Public",
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
