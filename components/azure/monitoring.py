"""Logs and metrics that outlive a node.

The rules are those of Microsoft's onboarding templates (microsoft/Docker-Provider
scripts/onboarding/aks/onboarding-msi-bicep, Azure/prometheus-collector AddonBicepTemplate). An
existing workspace must be in the cluster's region: its rule is made in that region, and an id does
not name one.
"""

from __future__ import annotations

import pulumi
from pulumi_azure_native import alertsmanagement, containerservice, monitor, operationalinsights

from components import references
from components.azure.placed import Placed
from components.target import Stack
from config.alerts import alert_rules
from config.alerts.rule import INTERVAL
from config.clouds import registry
from config.clouds.azure import azure_alerts
from config.clouds.azure.azure_settings import AzureLogs, AzureMonitoring
from config.model.fields import Reference

_LOG_STREAMS = ["Microsoft-ContainerLogV2", "Microsoft-KubeEvents", "Microsoft-KubePodInventory"]
"""The preset "Logs and events", without the tables of the old format (page
container-insights-data-collection-dcr)."""

_METRIC_STREAMS = ["Microsoft-PrometheusMetrics"]

_NAME_LENGTH = 44
"""Characters of a data collection endpoint's name, the shortest limit here."""


class Monitoring(pulumi.ComponentResource):
    """Workspaces of logs and metrics, declared before the cluster; `watch` declares the collection
    after it.

    It deliberately declares no workspace that the stack file names: only rules that write to it.
    """

    log_workspace: pulumi.Output[str] | None
    """The id; None when no logs are kept."""

    def __init__(
        self,
        name: str,
        spec: AzureMonitoring,
        placed: Placed,
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("kubeflow-spot:azure:Monitoring", name, None, opts)
        self._name, self._spec, self._placed = name, spec, placed
        self._child = pulumi.ResourceOptions(parent=self)
        self._logs_name = _fitted(placed.cluster, "-logs")
        self._metrics_name = _fitted(placed.cluster, "-metrics")
        self.log_workspace = self._log_workspace(spec.logs) if spec.logs else None
        self._metric_workspace = (
            self._monitor_workspace(spec.metrics.workspace) if spec.metrics else None
        )
        self.register_outputs({"logWorkspace": self.log_workspace})

    def watch(self, cluster: containerservice.ManagedCluster, stack: Stack) -> None:
        """Declare the collection of logs and metrics from the cluster, and the stack's alerts."""
        if self._spec.logs and self.log_workspace:
            # The agent looks for an association of this name.
            rule = self._log_rule(self.log_workspace)
            self._associate("logs", "ContainerInsightsExtension", rule, cluster)
            self._keep_control_plane_logs(cluster, self._spec.logs, self.log_workspace)
        if self._metric_workspace:
            rule = self._metric_rule(self._metric_workspace)
            self._associate("metrics", self._metrics_name, rule, cluster)
            if stack.spec.alerts_in_cloud:
                self._alert(self._metric_workspace, cluster, stack)

    def _alert(
        self,
        workspace: pulumi.Output[str],
        cluster: containerservice.ManagedCluster,
        stack: Stack,
    ) -> None:
        # Azure has no order among groups: a rule that reads what another group records sees it up
        # to a minute later.
        cloud, cluster_name = registry.cloud_of(stack.spec.cloud), self._placed.cluster
        group = alert_rules.rule_group(stack.spec, stack.node_pools, cloud)
        rules = azure_alerts.rule_groups(group, cluster_name, self._spec.action_groups)
        for number, part in enumerate(rules, start=1):
            alertsmanagement.PrometheusRuleGroup(
                f"{self._name}-alerts-{number}",
                **self._placed.inputs,
                rule_group_name=f"{cluster_name}-{stack.instance}-alerts-{number}",
                cluster_name=cluster.name,
                scopes=[workspace],
                interval=azure_alerts.iso_duration(INTERVAL),
                rules=part,
                opts=self._child,
            )

    def _log_workspace(self, spec: AzureLogs) -> pulumi.Output[str]:
        if spec.workspace:
            return references.output(spec.workspace)
        return operationalinsights.Workspace(
            f"{self._name}-logs",
            **self._placed.inputs,
            workspace_name=self._logs_name,
            sku=operationalinsights.WorkspaceSkuArgs(name="PerGB2018"),
            retention_in_days=spec.retention_days,
            opts=self._child,
        ).id

    def _monitor_workspace(self, existing: Reference | None) -> pulumi.Output[str]:
        if existing:
            return references.output(existing)
        return monitor.AzureMonitorWorkspace(
            f"{self._name}-metrics",
            **self._placed.inputs,
            azure_monitor_workspace_name=self._metrics_name,
            opts=self._child,
        ).id

    def _log_rule(self, workspace: pulumi.Output[str]) -> monitor.DataCollectionRule:
        extension = monitor.ExtensionDataSourceArgs(
            name="ContainerInsightsExtension",
            extension_name="ContainerInsights",
            streams=_LOG_STREAMS,
            extension_settings={
                "dataCollectionSettings": {
                    "interval": "1m",
                    "namespaceFilteringMode": "Off",
                    "enableContainerLogV2": True,
                }
            },
        )
        destination = monitor.LogAnalyticsDestinationArgs(
            name="workspace", workspace_resource_id=workspace
        )
        return monitor.DataCollectionRule(
            f"{self._name}-logs",
            **self._placed.inputs,
            data_collection_rule_name=self._logs_name,
            kind="Linux",
            data_sources=monitor.DataCollectionRuleDataSourcesArgs(extensions=[extension]),
            destinations=monitor.DataCollectionRuleDestinationsArgs(log_analytics=[destination]),
            data_flows=[monitor.DataFlowArgs(streams=_LOG_STREAMS, destinations=["workspace"])],
            opts=self._child,
        )

    def _keep_control_plane_logs(
        self,
        cluster: containerservice.ManagedCluster,
        spec: AzureLogs,
        workspace: pulumi.Output[str],
    ) -> None:
        if not spec.control_plane:
            return
        categories = sorted(spec.control_plane)
        # Deleted explicitly: otherwise the setting would apply again to a new cluster of the same
        # name (learn.microsoft.com/azure/azure-monitor/essentials/diagnostic-settings).
        monitor.DiagnosticSetting(
            f"{self._name}-control-plane",
            name="control-plane",
            resource_uri=cluster.id,
            workspace_id=workspace,
            # Tables of AKS' own (AKSControlPlane, AKSAudit), not the catch-all AzureDiagnostics.
            log_analytics_destination_type="Dedicated",
            logs=[
                monitor.DiagnosticsLogSettingsArgs(category=category, enabled=True)
                for category in categories
            ],
            opts=self._child,
        )

    def _metric_rule(self, workspace: pulumi.Output[str]) -> monitor.DataCollectionRule:
        endpoint = monitor.DataCollectionEndpoint(
            f"{self._name}-metrics",
            **self._placed.inputs,
            data_collection_endpoint_name=self._metrics_name,
            kind="Linux",
            network_acls=monitor.DataCollectionEndpointNetworkAclsArgs(
                public_network_access="Enabled"
            ),
            opts=self._child,
        )
        forwarder = monitor.PrometheusForwarderDataSourceArgs(
            name="PrometheusDataSource", streams=_METRIC_STREAMS
        )
        account = monitor.MonitoringAccountDestinationArgs(
            name="workspace", account_resource_id=workspace
        )
        return monitor.DataCollectionRule(
            f"{self._name}-metrics",
            **self._placed.inputs,
            data_collection_rule_name=self._metrics_name,
            kind="Linux",
            data_collection_endpoint_id=endpoint.id,
            data_sources=monitor.DataCollectionRuleDataSourcesArgs(
                prometheus_forwarder=[forwarder]
            ),
            destinations=monitor.DataCollectionRuleDestinationsArgs(monitoring_accounts=[account]),
            data_flows=[monitor.DataFlowArgs(streams=_METRIC_STREAMS, destinations=["workspace"])],
            opts=self._child,
        )

    def _associate(
        self,
        what: str,
        association: str,
        rule: monitor.DataCollectionRule,
        cluster: containerservice.ManagedCluster,
    ) -> None:
        # Deleted explicitly: a rule cannot be deleted while it has an association.
        monitor.DataCollectionRuleAssociation(
            f"{self._name}-{what}",
            association_name=association,
            resource_uri=cluster.id,
            data_collection_rule_id=rule.id,
            opts=self._child,
        )


def _fitted(name: str, suffix: str) -> str:
    return name[: _NAME_LENGTH - len(suffix)].rstrip("-") + suffix
