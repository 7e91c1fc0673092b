"""The parts of a ManagedCluster: pure translations of the stack file to AKS' properties.

A setting that can be switched off is always sent: AKS keeps a property that an update omits
(pulumi-azure-native issues 1686 and 2719 for pools). An immutable property is sent only if it
differs from AKS' default: azure-native replaces a cluster when such a property is added.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from ipaddress import IPv4Network
from typing import Any

import pulumi
from pulumi_azure_native import containerservice

from config.clouds.azure import azure_alerts, unready
from config.clouds.azure.azure_autoscaler import pinned_autoscaler
from config.clouds.azure.azure_network import AzureNetwork
from config.clouds.azure.azure_settings import (
    Azure,
    AzureAccess,
    AzureEncryption,
    AzureMonitoring,
    AzureSsh,
)
from config.clouds.azure.azure_storage_drivers import AzureStorageDrivers
from config.clouds.azure.azure_upgrades import AzureUpgrades, AzureWindow
from config.clouds.traits import PoolBounds
from config.model.fields import given
from config.model.pool import Capacity
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool

ALERTS = "monitoring.alerts"
"""The path by which an update remembers that it sent `alert_labels`."""


def autoscaler(
    spec: ClusterSpec, node_pools: Sequence[NodePool]
) -> containerservice.ManagedClusterPropertiesAutoScalerProfileArgs:
    """Return the cluster-wide autoscaler settings: the stack's, else the release's.

    All values are texts but for three booleans. The allowed number of unready nodes follows from
    the pools' bounds (`config.clouds.azure.unready`).
    """
    assert isinstance(spec.cloud, Azure)
    assert spec.system_pool
    release, own = pinned_autoscaler(spec.release), spec.cloud.autoscaler
    bounds = [
        PoolBounds(pool.name, pool.min_nodes, pool.max_nodes, pool.capacity == Capacity.SPOT)
        for pool in node_pools
    ]
    tolerant = unready.chosen(own, release, bounds, spec.system_pool.min_nodes)
    chosen = release.model_copy(update=own.model_dump(exclude_none=True))
    return containerservice.ManagedClusterPropertiesAutoScalerProfileArgs(
        balance_similar_node_groups=_text(chosen.balance_similar_node_groups),
        daemonset_eviction_for_empty_nodes=chosen.daemonset_eviction_for_empty_nodes,
        daemonset_eviction_for_occupied_nodes=chosen.daemonset_eviction_for_occupied_nodes,
        expander=chosen.expander,
        ignore_daemonsets_utilization=chosen.ignore_daemonsets_utilization,
        max_empty_bulk_delete=_text(chosen.max_empty_bulk_delete),
        max_graceful_termination_sec=_text(chosen.max_graceful_termination_sec),
        max_node_provision_time=chosen.max_node_provision_time,
        max_total_unready_percentage=_text(tolerant.percentage),
        new_pod_scale_up_delay=chosen.new_pod_scale_up_delay,
        ok_total_unready_count=_text(tolerant.count),
        scale_down_delay_after_add=chosen.scale_down_delay_after_add,
        scale_down_delay_after_delete=chosen.scale_down_delay_after_delete,
        scale_down_delay_after_failure=chosen.scale_down_delay_after_failure,
        scale_down_unneeded_time=chosen.scale_down_unneeded_time,
        scale_down_unready_time=chosen.scale_down_unready_time,
        scale_down_utilization_threshold=_text(chosen.scale_down_utilization_threshold),
        scan_interval=chosen.scan_interval,
        skip_nodes_with_local_storage=_text(chosen.skip_nodes_with_local_storage),
        skip_nodes_with_system_pods=_text(chosen.skip_nodes_with_system_pods),
    )


def node_provisioning(
    on: bool,
) -> containerservice.ManagedClusterNodeProvisioningProfileArgs | None:
    """Return the mode of node auto-provisioning, without AKS' own pools; None for the autoscaler."""
    if not on:
        return None
    return containerservice.ManagedClusterNodeProvisioningProfileArgs(
        mode="Auto", default_node_pools="None"
    )


def _text(value: float | bool | None) -> str | None:
    return None if value is None else str(value).lower()


def network(spec: AzureNetwork) -> containerservice.ContainerServiceNetworkProfileArgsDict:
    """Return the ranges inside the cluster, and its egress.

    The result is not the SDK's class, which always sends `outboundType`.
    """
    profile: containerservice.ContainerServiceNetworkProfileArgsDict = {
        "network_plugin": "azure",
        "network_plugin_mode": "overlay",
        "pod_cidr": spec.pod_cidr,
        "service_cidr": spec.service_cidr,
        "dns_service_ip": dns_service_ip(spec.service_cidr),
    }
    if spec.dataplane != "azure":
        profile["network_dataplane"] = spec.dataplane
    if spec.policy not in (None, "none"):
        profile["network_policy"] = spec.policy
    if spec.outbound_type != "loadBalancer":
        profile["outbound_type"] = spec.outbound_type
    return profile


def dns_service_ip(service_cidr: str) -> str:
    """Return the tenth address of the service range, AKS' choice for its default range."""
    return str(IPv4Network(service_cidr)[10])


def api_server(spec: AzureAccess) -> containerservice.ManagedClusterAPIServerAccessProfileArgs:
    """Return the access to the API server's address."""
    return containerservice.ManagedClusterAPIServerAccessProfileArgs(
        disable_run_command=not spec.run_command,
        enable_private_cluster=True if spec.private else None,
        private_dns_zone=(spec.private_dns_zone or None) if spec.private else None,
        authorized_ip_ranges=None if spec.private else list(spec.authorized_ranges),
    )


def entra(spec: AzureAccess) -> containerservice.ManagedClusterAADProfileArgs | None:
    """Return the logins through Microsoft Entra; None without.

    AKS cannot switch them off again (page enable-authentication).
    """
    if not spec.entra:
        return None
    return containerservice.ManagedClusterAADProfileArgs(
        managed=True,
        enable_azure_rbac=spec.azure_rbac,
        admin_group_object_ids=list(spec.admin_groups),
        tenant_id=spec.tenant_id or None,
    )


def upgrades(spec: AzureUpgrades) -> containerservice.ManagedClusterAutoUpgradeProfileArgs:
    """Return the upgrades that AKS makes by itself."""
    return containerservice.ManagedClusterAutoUpgradeProfileArgs(
        upgrade_channel=spec.channel, node_os_upgrade_channel=spec.node_os_channel
    )


def maintenance_window(spec: AzureWindow) -> containerservice.MaintenanceWindowArgs:
    """Return a weekly window (page planned-maintenance)."""
    weekly = containerservice.WeeklyScheduleArgs(
        day_of_week=spec.day, interval_weeks=spec.every_weeks
    )
    return containerservice.MaintenanceWindowArgs(
        schedule=containerservice.ScheduleArgs(weekly=weekly),
        start_time=spec.start_time,
        utc_offset=spec.utc_offset,
        duration_hours=spec.duration_hours,
        not_allowed_dates=[
            containerservice.DateSpanArgs(start=each.start, end=each.end)
            for each in spec.exclusions
        ]
        or None,
    )


def linux(spec: AzureSsh | None) -> containerservice.ContainerServiceLinuxProfileArgs | None:
    """Return the login on the nodes; None without."""
    if spec is None:
        return None
    key = containerservice.ContainerServiceSshPublicKeyArgs(key_data=spec.public_key)
    ssh = containerservice.ContainerServiceSshConfigurationArgs(public_keys=[key])
    return containerservice.ContainerServiceLinuxProfileArgs(admin_username=spec.username, ssh=ssh)


def security(spec: AzureEncryption) -> containerservice.ManagedClusterSecurityProfileArgs:
    """Return workload identity, and the key of etcd's Secrets."""
    kms = None
    if spec.kms:
        # A vault without public access needs an API server in the network; `config.rules` refuses
        # it.
        kms = containerservice.AzureKeyVaultKmsArgs(
            enabled=True, key_id=spec.kms.key_id, key_vault_network_access="Public"
        )
    return containerservice.ManagedClusterSecurityProfileArgs(
        workload_identity=containerservice.ManagedClusterSecurityProfileWorkloadIdentityArgs(
            enabled=True
        ),
        azure_key_vault_kms=kms,
    )


def addons(
    log_workspace: pulumi.Input[str] | None,
) -> dict[str, containerservice.ManagedClusterAddonProfileArgs]:
    """Return Container insights (page monitor-aks); the keys have the add-on's spelling."""
    if log_workspace is None:
        return {"omsagent": containerservice.ManagedClusterAddonProfileArgs(enabled=False)}
    config = {"logAnalyticsWorkspaceResourceID": log_workspace, "useAADAuth": "true"}
    return {
        "omsagent": containerservice.ManagedClusterAddonProfileArgs(enabled=True, config=config)
    }


def azure_monitor(
    spec: AzureMonitoring, labels: str | None
) -> containerservice.ManagedClusterAzureMonitorProfileArgs:
    """Return managed Prometheus. `labels`: those that its series of labels show; None: as it is."""
    return containerservice.ManagedClusterAzureMonitorProfileArgs(
        metrics=containerservice.ManagedClusterAzureMonitorProfileMetricsArgs(
            enabled=spec.metrics is not None,
            kube_state_metrics=None
            if labels is None
            else containerservice.ManagedClusterAzureMonitorProfileKubeStateMetricsArgs(
                metric_labels_allowlist=labels
            ),
        )
    )


def alert_labels(spec: ClusterSpec, reset: Collection[str]) -> str | None:
    """Return the labels of nodes that alerts read; "" if the last update sent them (`reset`)."""
    if spec.alerts_in_cloud:
        return azure_alerts.NODE_LABELS
    return "" if ALERTS in reset else None


def left_alone(
    drivers: object | None, labels: str | None, properties: Mapping[str, Any]
) -> list[str]:
    """Return the properties that the update does not set: what an earlier one reset stays so."""
    own_labels = labels is not None or "azureMonitorProfile" in properties
    return [
        *([] if drivers else ["storageProfile"]),
        *([] if own_labels else ["azureMonitorProfile.metrics.kubeStateMetrics"]),
    ]


def storage_drivers(
    spec: AzureStorageDrivers, live: Mapping[str, Any] | None, reset: Collection[str]
) -> containerservice.ManagedClusterStorageProfileArgs | None:
    """Return all CSI drivers, each with its switch: AKS keeps what a request leaves out. None if
    neither the file sets one nor the last update did (`reset`).

    One that was switched by hand keeps its switch.
    """
    now = (live or {}).get("storageProfile") or {}

    def enabled(field: str, name: str) -> bool:
        wanted = bool(getattr(spec, field))
        ours = given(spec, field) or f"storageDrivers.{field}" in reset
        return wanted if ours else bool((now.get(name) or {}).get("enabled", wanted))

    if not given(spec, "blob", "file", "snapshots") and not any(
        path.startswith("storageDrivers.") for path in reset
    ):
        return None
    return containerservice.ManagedClusterStorageProfileArgs(
        blob_csi_driver=containerservice.ManagedClusterStorageProfileBlobCSIDriverArgs(
            enabled=enabled("blob", "blobCSIDriver")
        ),
        disk_csi_driver=containerservice.ManagedClusterStorageProfileDiskCSIDriverArgs(
            enabled=True
        ),
        file_csi_driver=containerservice.ManagedClusterStorageProfileFileCSIDriverArgs(
            enabled=enabled("file", "fileCSIDriver")
        ),
        snapshot_controller=containerservice.ManagedClusterStorageProfileSnapshotControllerArgs(
            enabled=enabled("snapshots", "snapshotController")
        ),
    )
