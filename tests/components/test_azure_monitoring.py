"""Logs and metrics of an AKS cluster."""

from __future__ import annotations

import pytest

from tests.components.features import ID, Azure, cluster, inputs_of, named

pytestmark = pytest.mark.program


def test_new_workspaces_keep_logs_and_metrics(azure: Azure) -> None:
    declared = azure(
        {"monitoring": {"logs": {"retentionDays": 90, "controlPlane": ["kube-audit-admin", "guard"]}, "metrics": {}}}
    )
    workspace = inputs_of(declared, "operationalinsights:Workspace")
    assert (workspace["workspaceName"], workspace["retentionInDays"]) == ("lab-logs", 90)
    sent = cluster(declared)
    agent = sent["addonProfiles"]["omsagent"]
    assert (agent["enabled"], agent["config"]["useAADAuth"]) == (True, "true")
    assert sent["azureMonitorProfile"]["metrics"]["enabled"] is True

    rules = named(declared, "monitor:DataCollectionRule")
    (source,) = rules["lab-logs"]["dataSources"]["extensions"]
    assert "Microsoft-ContainerLogV2" in source["streams"]
    (kept_in,) = rules["lab-logs"]["destinations"]["logAnalytics"]
    assert kept_in["workspaceResourceId"] == agent["config"]["logAnalyticsWorkspaceResourceID"]
    (source,) = rules["lab-metrics"]["dataSources"]["prometheusForwarder"]
    assert source["streams"] == ["Microsoft-PrometheusMetrics"]
    associations = named(declared, "monitor:DataCollectionRuleAssociation")
    assert associations["lab-logs"]["associationName"] == "ContainerInsightsExtension"
    assert {a["dataCollectionRuleId"].rpartition("/")[2] for a in associations.values()} == {"lab-logs", "lab-metrics"}
    assert {a["resourceUri"].rpartition("/")[2] for a in associations.values()} == {"lab"}

    setting = inputs_of(declared, "monitor:DiagnosticSetting")
    assert [log["category"] for log in setting["logs"] if log["enabled"]] == ["guard", "kube-audit-admin"]
    assert setting["workspaceId"] == kept_in["workspaceResourceId"]


def test_existing_workspaces_are_used_and_not_made(azure: Azure) -> None:
    logs = f"{ID}/Microsoft.OperationalInsights/workspaces/logs"
    metrics = f"{ID}/Microsoft.Monitor/accounts/metrics"
    declared = azure(
        {"monitoring": {"logs": {"workspace": logs, "controlPlane": []}, "metrics": {"workspace": metrics}}}
    )
    for type in ("operationalinsights:Workspace", "monitor:AzureMonitorWorkspace", "monitor:DiagnosticSetting"):
        assert named(declared, type) == {}
    rules = named(declared, "monitor:DataCollectionRule")
    assert rules["lab-logs"]["destinations"]["logAnalytics"][0]["workspaceResourceId"] == logs
    assert rules["lab-metrics"]["destinations"]["monitoringAccounts"][0]["accountResourceId"] == metrics


def test_names_of_what_monitors_a_cluster_with_a_long_name_fit(azure: Azure) -> None:
    declared = azure({"resourceGroup": "g", "monitoring": {"metrics": {}}}, cluster={"name": "m" * 35 + "-" + "l" * 8})
    assert inputs_of(declared, "monitor:DataCollectionEndpoint")["dataCollectionEndpointName"] == "m" * 35 + "-metrics"
