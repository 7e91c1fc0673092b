"""Logs and metrics that outlive a node.

The rules are those of Microsoft's onboarding templates (microsoft/Docker-Provider scripts/onboarding/aks/onboarding-msi-bicep,
Azure/prometheus-collector AddonBicepTemplate). A workspace that exists must be in the cluster's region: its rule lives where
it does, and an id does not say where.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from components import links
from components.azure.placed import Placed
from components.azure.types import (
    DATA_COLLECTION_ENDPOINT,
    DATA_COLLECTION_RULE,
    DATA_COLLECTION_RULE_ASSOCIATION,
    DIAGNOSTIC_SETTING,
    LOG_WORKSPACE,
    MONITOR_WORKSPACE,
)
from components.resources import Declared
from config.clouds.azure.settings import AzureLogs, AzureMonitoring

_LOG_STREAMS = ["Microsoft-ContainerLogV2", "Microsoft-KubeEvents", "Microsoft-KubePodInventory"]
"""The preset "Logs and events", without the tables of the old format (page container-insights-data-collection-dcr)."""

_METRIC_STREAMS = ["Microsoft-PrometheusMetrics"]

_FORMER_TYPES = {
    type: type.replace(":monitor:", ":insights:")
    for type in (
        DATA_COLLECTION_ENDPOINT,
        DATA_COLLECTION_RULE,
        DATA_COLLECTION_RULE_ASSOCIATION,
        DIAGNOSTIC_SETTING,
    )
}
"""Their names in an earlier version of azure-native; the SDK's classes send them as aliases."""

_NAME_LENGTH = 44
"""Of a data collection endpoint, the shortest of the names here."""


class Monitoring(pulumi.ComponentResource):
    """Where logs and metrics go. The workspaces come before the cluster, `watch` after it."""

    log_workspace: pulumi.Output[str] | None
    """The id; None when no logs are kept."""

    def __init__(
        self, name: str, spec: AzureMonitoring, placed: Placed, *, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("kubeflow-spot:azure:Monitoring", name, None, opts)
        self._name = name
        self._spec = spec
        self._placed = placed.inputs
        self._logs_name = _fitted(placed.cluster, "-logs")
        self._metrics_name = _fitted(placed.cluster, "-metrics")
        self.log_workspace = self._log_workspace(spec.logs) if spec.logs else None
        self._metric_workspace = self._monitor_workspace(spec.metrics.workspace) if spec.metrics else None
        self.register_outputs({"logWorkspace": self.log_workspace})

    def watch(self, cluster: Declared) -> None:
        """Declare what is collected from the cluster, and where it goes."""
        if self._spec.logs and self.log_workspace:
            self._collect_logs(cluster, self.log_workspace)
            self._keep_control_plane_logs(cluster, self._spec.logs, self.log_workspace)
        if self._metric_workspace:
            self._collect_metrics(cluster, self._metric_workspace)

    def _log_workspace(self, spec: AzureLogs) -> pulumi.Output[str]:
        if spec.workspace:
            return links.output(spec.workspace)
        made = self._declare(
            LOG_WORKSPACE,
            "logs",
            {
                **self._placed,
                "workspaceName": self._logs_name,
                "sku": {"name": "PerGB2018"},
                "retentionInDays": spec.retention_days,
            },
        )
        return made.id

    def _monitor_workspace(self, existing: str | None) -> pulumi.Output[str]:
        if existing:
            return links.output(existing)
        inputs = {**self._placed, "azureMonitorWorkspaceName": self._metrics_name}
        return self._declare(MONITOR_WORKSPACE, "metrics", inputs).id

    def _collect_logs(self, cluster: Declared, workspace: pulumi.Output[str]) -> None:
        extension = {
            "name": "ContainerInsightsExtension",
            "extensionName": "ContainerInsights",
            "streams": _LOG_STREAMS,
            "extensionSettings": {
                "dataCollectionSettings": {
                    "interval": "1m",
                    "namespaceFilteringMode": "Off",
                    "enableContainerLogV2": True,
                }
            },
        }
        rule = self._declare(
            DATA_COLLECTION_RULE,
            "logs",
            {
                **self._placed,
                "dataCollectionRuleName": self._logs_name,
                "kind": "Linux",
                "dataSources": {"extensions": [extension]},
                "destinations": {"logAnalytics": [{"name": "workspace", "workspaceResourceId": workspace}]},
                "dataFlows": [{"streams": _LOG_STREAMS, "destinations": ["workspace"]}],
            },
        )
        # The agent looks for an association of this name.
        self._associate("logs", "ContainerInsightsExtension", rule, cluster)

    def _keep_control_plane_logs(self, cluster: Declared, spec: AzureLogs, workspace: pulumi.Output[str]) -> None:
        if not spec.control_plane:
            return
        # Not deleted with the cluster: the setting would come back to life with a cluster of the same name
        # (learn.microsoft.com/azure/azure-monitor/essentials/diagnostic-settings).
        self._declare(
            DIAGNOSTIC_SETTING,
            "control-plane",
            {
                "name": "control-plane",
                "resourceUri": cluster.id,
                "workspaceId": workspace,
                # Tables of AKS' own (AKSControlPlane, AKSAudit), not the catch-all AzureDiagnostics.
                "logAnalyticsDestinationType": "Dedicated",
                "logs": [{"category": category, "enabled": True} for category in sorted(spec.control_plane)],
            },
        )

    def _collect_metrics(self, cluster: Declared, workspace: pulumi.Output[str]) -> None:
        endpoint = self._declare(
            DATA_COLLECTION_ENDPOINT,
            "metrics",
            {
                **self._placed,
                "dataCollectionEndpointName": self._metrics_name,
                "kind": "Linux",
                "networkAcls": {"publicNetworkAccess": "Enabled"},
            },
        )
        forwarder = {"name": "PrometheusDataSource", "streams": _METRIC_STREAMS}
        rule = self._declare(
            DATA_COLLECTION_RULE,
            "metrics",
            {
                **self._placed,
                "dataCollectionRuleName": self._metrics_name,
                "kind": "Linux",
                "dataCollectionEndpointId": endpoint.id,
                "dataSources": {"prometheusForwarder": [forwarder]},
                "destinations": {"monitoringAccounts": [{"name": "workspace", "accountResourceId": workspace}]},
                "dataFlows": [{"streams": _METRIC_STREAMS, "destinations": ["workspace"]}],
            },
        )
        self._associate("metrics", self._metrics_name, rule, cluster)

    def _associate(self, what: str, association: str, rule: Declared, cluster: Declared) -> None:
        # Deleted by itself, not with the cluster: a rule does not go while something is associated with it.
        self._declare(
            DATA_COLLECTION_RULE_ASSOCIATION,
            what,
            {"associationName": association, "resourceUri": cluster.id, "dataCollectionRuleId": rule.id},
        )

    def _declare(self, type: str, what: str, inputs: Mapping[str, Any]) -> Declared:
        former = _FORMER_TYPES.get(type)
        opts = pulumi.ResourceOptions(parent=self, aliases=[pulumi.Alias(type_=former)] if former else None)
        return Declared(type, f"{self._name}-{what}", inputs, opts, outputs=())


def _fitted(name: str, suffix: str) -> str:
    return name[: _NAME_LENGTH - len(suffix)].rstrip("-") + suffix
