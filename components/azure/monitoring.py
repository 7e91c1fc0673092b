"""Logs and metrics that outlive a node.

The rules are those of Microsoft's onboarding templates (microsoft/Docker-Provider scripts/onboarding/aks/onboarding-msi-bicep,
Azure/prometheus-collector AddonBicepTemplate). A workspace that exists must be in the cluster's region: its rule lives where
it does, and an id does not say where.
"""

from __future__ import annotations

import pulumi
from pulumi_azure_native import containerservice, monitor, operationalinsights

from spec.azure import AzureLogs, AzureMonitoring

_LOG_STREAMS = ["Microsoft-ContainerLogV2", "Microsoft-KubeEvents", "Microsoft-KubePodInventory"]
"""The preset "Logs and events", without the tables of the old format (page container-insights-data-collection-dcr)."""

_METRIC_STREAMS = ["Microsoft-PrometheusMetrics"]

_NAME_LENGTH = 44
"""Of a data collection endpoint, the shortest of the names here."""


class Monitoring(pulumi.ComponentResource):
    """Where logs and metrics go. The workspaces come before the cluster, `watch` after it."""

    log_workspace: pulumi.Output[str] | None
    """The id; None when no logs are kept."""

    def __init__(
        self,
        name: str,
        spec: AzureMonitoring,
        *,
        cluster: str,
        resource_group: pulumi.Input[str],
        location: str,
        tags: dict[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("kubeflow-spot:azure:Monitoring", name, None, opts)
        self._name = name
        self._spec = spec
        self._resource_group = resource_group
        self._location = location
        self._tags = tags
        self._logs_name = _fitted(cluster, "-logs")
        self._metrics_name = _fitted(cluster, "-metrics")
        self.log_workspace = self._log_workspace(spec.logs) if spec.logs else None
        self._metric_workspace = self._monitor_workspace(spec.metrics.workspace) if spec.metrics else None
        self.register_outputs({"logWorkspace": self.log_workspace})

    def watch(self, cluster: containerservice.ManagedCluster) -> None:
        """Declare what is collected from the cluster, and where it goes."""
        if self._spec.logs and self.log_workspace:
            self._collect_logs(cluster, self.log_workspace)
            self._keep_control_plane_logs(cluster, self._spec.logs, self.log_workspace)
        if self._metric_workspace:
            self._collect_metrics(cluster, self._metric_workspace)

    def _log_workspace(self, spec: AzureLogs) -> pulumi.Output[str]:
        if spec.workspace:
            return pulumi.Output.from_input(spec.workspace)
        made = operationalinsights.Workspace(
            f"{self._name}-logs",
            workspace_name=self._logs_name,
            resource_group_name=self._resource_group,
            location=self._location,
            sku={"name": "PerGB2018"},
            retention_in_days=spec.retention_days,
            tags=self._tags,
            opts=self._child,
        )
        return pulumi.Output.from_input(made.id)

    def _monitor_workspace(self, existing: str | None) -> pulumi.Output[str]:
        if existing:
            return pulumi.Output.from_input(existing)
        made = monitor.AzureMonitorWorkspace(
            f"{self._name}-metrics",
            azure_monitor_workspace_name=self._metrics_name,
            resource_group_name=self._resource_group,
            location=self._location,
            tags=self._tags,
            opts=self._child,
        )
        return pulumi.Output.from_input(made.id)

    def _collect_logs(self, cluster: containerservice.ManagedCluster, workspace: pulumi.Output[str]) -> None:
        rule = monitor.DataCollectionRule(
            f"{self._name}-logs",
            data_collection_rule_name=self._logs_name,
            resource_group_name=self._resource_group,
            location=self._location,
            kind="Linux",
            data_sources={
                "extensions": [
                    {
                        "name": "ContainerInsightsExtension",
                        "extension_name": "ContainerInsights",
                        "streams": _LOG_STREAMS,
                        "extension_settings": {
                            "dataCollectionSettings": {
                                "interval": "1m",
                                "namespaceFilteringMode": "Off",
                                "enableContainerLogV2": True,
                            }
                        },
                    }
                ]
            },
            destinations={"log_analytics": [{"name": "workspace", "workspace_resource_id": workspace}]},
            data_flows=[{"streams": _LOG_STREAMS, "destinations": ["workspace"]}],
            tags=self._tags,
            opts=self._child,
        )
        # The agent looks for an association of this name.
        self._associate("logs", "ContainerInsightsExtension", rule, cluster)

    def _keep_control_plane_logs(
        self, cluster: containerservice.ManagedCluster, spec: AzureLogs, workspace: pulumi.Output[str]
    ) -> None:
        if not spec.control_plane:
            return
        # Not deleted with the cluster: the setting would come back to life with a cluster of the same name
        # (learn.microsoft.com/azure/azure-monitor/essentials/diagnostic-settings).
        monitor.DiagnosticSetting(
            f"{self._name}-control-plane",
            name="control-plane",
            resource_uri=cluster.id,
            workspace_id=workspace,
            # Tables of AKS' own (AKSControlPlane, AKSAudit), not the catch-all AzureDiagnostics.
            log_analytics_destination_type="Dedicated",
            logs=[{"category": category, "enabled": True} for category in sorted(spec.control_plane)],
            opts=self._child,
        )

    def _collect_metrics(self, cluster: containerservice.ManagedCluster, workspace: pulumi.Output[str]) -> None:
        endpoint = monitor.DataCollectionEndpoint(
            f"{self._name}-metrics",
            data_collection_endpoint_name=self._metrics_name,
            resource_group_name=self._resource_group,
            location=self._location,
            kind="Linux",
            network_acls={"public_network_access": "Enabled"},
            tags=self._tags,
            opts=self._child,
        )
        rule = monitor.DataCollectionRule(
            f"{self._name}-metrics",
            data_collection_rule_name=self._metrics_name,
            resource_group_name=self._resource_group,
            location=self._location,
            kind="Linux",
            data_collection_endpoint_id=endpoint.id,
            data_sources={"prometheus_forwarder": [{"name": "PrometheusDataSource", "streams": _METRIC_STREAMS}]},
            destinations={"monitoring_accounts": [{"name": "workspace", "account_resource_id": workspace}]},
            data_flows=[{"streams": _METRIC_STREAMS, "destinations": ["workspace"]}],
            tags=self._tags,
            opts=self._child,
        )
        self._associate("metrics", self._metrics_name, rule, cluster)

    def _associate(
        self, what: str, association: str, rule: monitor.DataCollectionRule, cluster: containerservice.ManagedCluster
    ) -> None:
        # Deleted by itself, not with the cluster: a rule does not go while something is associated with it.
        monitor.DataCollectionRuleAssociation(
            f"{self._name}-{what}",
            association_name=association,
            resource_uri=cluster.id,
            data_collection_rule_id=rule.id,
            opts=self._child,
        )

    @property
    def _child(self) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self)


def _fitted(name: str, suffix: str) -> str:
    return name[: _NAME_LENGTH - len(suffix)].rstrip("-") + suffix
