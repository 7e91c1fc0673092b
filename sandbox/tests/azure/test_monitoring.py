"""Workspaces, data collection and diagnostic settings: each refusal with a near neighbour that is accepted."""

import pytest

from sandbox.azure.azure_errors import AzureRefused
from sandbox.cloud.provider import Refused, Resource

from .conftest import IDENTITY, POOL, REGULAR, Account, Props, ml, refusal

WORKSPACE = "azure-native:operationalinsights:Workspace"
ACCOUNT = "azure-native:monitor:AzureMonitorWorkspace"
ENDPOINT = "azure-native:monitor:DataCollectionEndpoint"
RULE = "azure-native:monitor:DataCollectionRule"
ASSOCIATION = "azure-native:monitor:DataCollectionRuleAssociation"
SETTING = "azure-native:monitor:DiagnosticSetting"

WORKSPACE_INPUTS: Props = ml(workspaceName="logs", sku={"name": "PerGB2018"})
ENDPOINT_INPUTS: Props = ml(dataCollectionEndpointName="intake")
METRICS_INPUTS: Props = ml(azureMonitorWorkspaceName="metrics")
LOGS = "Microsoft-ContainerInsights-Group-Default"


@pytest.fixture
def cluster(ready: Account) -> str:
    """Return the id of the cluster `aks`."""
    read = ready.provider.invoke("azure-native:containerservice:getManagedCluster", ml(resourceName="aks"))
    return str(read["id"])


@pytest.fixture
def workspace(ready: Account) -> Resource:
    return ready.create(WORKSPACE, WORKSPACE_INPUTS)


def rule(workspace: Resource, **changes: object) -> Props:
    return {
        "resourceGroupName": "ml",
        "dataCollectionRuleName": "logs",
        "kind": "Linux",
        "dataSources": {
            "extensions": [{"name": "ci", "extensionName": "ContainerInsights", "streams": [LOGS, "Custom-Mine_CL"]}]
        },
        "destinations": {"logAnalytics": [{"name": "kept", "workspaceResourceId": workspace.id}]},
        "dataFlows": [{"streams": [LOGS], "destinations": ["kept"]}],
        **changes,
    }


def test_workspace_gets_the_recorded_defaults(workspace: Resource) -> None:
    body = dict(workspace.old_outputs)
    assert len(body.pop("customerId")) == 36
    assert body == {
        "name": "logs",
        "type": "Microsoft.OperationalInsights/workspaces",
        "location": "westeurope",
        "sku": {"name": "PerGB2018"},
        "retentionInDays": 30,
        "features": {"enableLogAccessUsingOnlyResourcePermissions": True},
        "workspaceCapping": {"dailyQuotaGb": -1, "dataIngestionStatus": "RespectQuota"},
        "publicNetworkAccessForIngestion": "Enabled",
        "publicNetworkAccessForQuery": "Enabled",
        "provisioningState": "Succeeded",
        "azureApiVersion": "2023-09-01",
    }


@pytest.mark.parametrize(
    ("bad", "text", "good"),
    [
        ({"retentionInDays": 29}, "the expected value should be between 30 to 730.", {"retentionInDays": 30}),
        ({"retentionInDays": 731}, "between 30 to 730", {"retentionInDays": 730}),
        ({"sku": {"name": "Standalone"}}, "Pricing tier doesn't match", {"sku": {"name": "CapacityReservation"}}),
    ],
)
def test_workspace_is_refused(ready: Account, bad: Props, text: str, good: Props) -> None:
    refused = refusal(ready.create, WORKSPACE, {**WORKSPACE_INPUTS, **bad})
    assert refused.code == "BadRequest"
    assert text in refused.message
    workspace = ready.create(WORKSPACE, {**WORKSPACE_INPUTS, **good})
    kept = ready.update(workspace, {**WORKSPACE_INPUTS, **good, "workspaceCapping": {"dailyQuotaGb": 1}})
    assert kept.old_outputs["workspaceCapping"] == {"dailyQuotaGb": 1, "dataIngestionStatus": "RespectQuota"}


def test_monitor_account_names_what_comes_with_it(ready: Account) -> None:
    body = ready.create(ACCOUNT, METRICS_INPUTS).old_outputs
    assert body["metrics"]["internalId"] == f"mac_{body['accountId']}"
    assert body["metrics"]["prometheusQueryEndpoint"].endswith(".westeurope.prometheus.monitor.azure.com")
    assert body["defaultIngestionSettings"]["dataCollectionRuleResourceId"].endswith(
        "/resourceGroups/MA_metrics_westeurope_managed/providers/Microsoft.Insights/dataCollectionRules/metrics"
    )
    assert body["publicNetworkAccess"] == "Enabled"


def test_rule_tells_the_numbers_of_its_destinations(ready: Account, workspace: Resource) -> None:
    account = ready.create(ACCOUNT, METRICS_INPUTS)
    endpoint = ready.create(ENDPOINT, ENDPOINT_INPUTS)
    assert endpoint.old_outputs["immutableId"].startswith("dce-")
    assert endpoint.old_outputs["logsIngestion"]["endpoint"].endswith(".westeurope-1.ingest.monitor.azure.com")
    created = ready.create(
        RULE,
        rule(
            workspace,
            dataCollectionEndpointId=endpoint.id,
            destinations={
                "logAnalytics": [{"name": "kept", "workspaceResourceId": workspace.id}],
                "monitoringAccounts": [{"name": "metrics", "accountResourceId": account.id}],
                "azureMonitorMetrics": {"name": "own"},
            },
        ),
    )
    destinations = created.old_outputs["destinations"]
    assert destinations["logAnalytics"][0]["workspaceId"] == workspace.old_outputs["customerId"]
    assert destinations["monitoringAccounts"][0]["accountId"] == account.old_outputs["accountId"]
    assert created.old_outputs["immutableId"].startswith("dcr-")
    again = ready.refresh(created)
    assert again.old_inputs == created.old_inputs


def test_rule_is_refused(ready: Account, workspace: Resource) -> None:
    kept = {"name": "kept", "workspaceResourceId": workspace.id}
    absent = workspace.id.replace("/logs", "/no")
    identity = ready.create(IDENTITY, ml(resourceName="control"))
    for changes, code, text in (
        (
            {"dataFlows": [{"streams": [LOGS], "destinations": ["lost"]}]},
            "InvalidPayload",
            "Data collection rule is invalid: (InvalidDataFlow) 'DataFlows' destination name is unknown: lost.",
        ),
        ({"destinations": {"logAnalytics": [kept, kept]}}, "InvalidPayload", "(InvalidDestination)"),
        (
            {"destinations": {"logAnalytics": [{**kept, "workspaceResourceId": absent}]}},
            "ResourceNotFound",
            "'Microsoft.OperationalInsights/workspaces/no' under resource group 'ml'",
        ),
        (
            {"destinations": {"logAnalytics": [{**kept, "workspaceResourceId": identity.id}]}},
            "ResourceNotFound",
            "userAssignedIdentities/control",
        ),
        (
            {"dataCollectionEndpointId": absent.replace("workspaces", "dataCollectionEndpoints")},
            "ResourceNotFound",
            "dataCollectionEndpoints/no",
        ),
    ):
        refused = refusal(ready.create, RULE, rule(workspace, **changes))
        assert refused.code == code
        assert text in refused.message
    ready.create(RULE, rule(workspace))


def test_region_of_a_rule_forces_a_new_one(ready: Account, workspace: Resource) -> None:
    created = ready.create(RULE, rule(workspace))
    assert ready.diff(created, rule(workspace, location="eastus")).replaces == {"location"}
    assert ready.diff(created, rule(workspace, description="more")).replaces == set()


def test_association_joins_a_cluster_and_a_rule(ready: Account, cluster: str, workspace: Resource) -> None:
    collection_rule = ready.create(RULE, rule(workspace))
    endpoint = ready.create(ENDPOINT, ENDPOINT_INPUTS)
    good = {"resourceUri": cluster, "associationName": "ci", "dataCollectionRuleId": collection_rule.id}
    subnets = {"resourceUri": ready.network().id}
    for changes, code in (
        ({"resourceUri": cluster + "2"}, "ResourceNotFound"),
        ({"resourceUri": "aks"}, "MissingSubscription"),
        (subnets, "InvalidResourceType"),
        ({"dataCollectionRuleId": None}, "InvalidPayload"),
        ({"dataCollectionEndpointId": endpoint.id}, "InvalidPayload"),
        ({"dataCollectionRuleId": None, "dataCollectionEndpointId": endpoint.id}, "InvalidAssociationName"),
        ({"associationName": "configurationAccessEndpoint"}, "InvalidAssociationName"),
        ({"dataCollectionRuleId": collection_rule.id + "2"}, "ResourceNotFound"),
        ({"dataCollectionRuleId": workspace.id}, "ResourceNotFound"),
    ):
        assert refusal(ready.create, ASSOCIATION, {**good, **changes}).code == code, changes
    association = ready.create(ASSOCIATION, good)
    assert refusal(ready.provider.delete, collection_rule).code == "AssociationsExist"
    assert association.id == f"{cluster}/providers/Microsoft.Insights/dataCollectionRuleAssociations/ci"
    assert association.old_outputs["dataCollectionRuleId"] == collection_rule.id
    ready.create(
        ASSOCIATION,
        {
            "resourceUri": cluster,
            "associationName": "configurationAccessEndpoint",
            "dataCollectionEndpointId": endpoint.id,
        },
    )
    assert ready.diff(association, {**good, "resourceUri": cluster + "2"}).replaces == {"resourceUri"}
    with pytest.raises(AzureRefused, match="AssociationsExist"):
        ready.provider.delete(endpoint)
    ready.provider.delete(association)
    ready.provider.delete(collection_rule)
    assert ready.provider.read(collection_rule) is None


def log(category: str, *, enabled: bool = True) -> Props:
    return {"category": category, "enabled": enabled}


def setting(cluster: str, workspace: Resource, *logs: Props, **changes: object) -> Props:
    return {"resourceUri": cluster, "name": "control-plane", "workspaceId": workspace.id, "logs": list(logs), **changes}


def test_setting_comes_back_with_a_retention_policy(ready: Account, cluster: str, workspace: Resource) -> None:
    wanted = setting(cluster, workspace, log("kube-audit-admin"), logAnalyticsDestinationType="Dedicated")
    created = ready.create(SETTING, wanted)
    assert created.old_outputs == {
        "name": "control-plane",
        "type": "Microsoft.Insights/diagnosticSettings",
        "workspaceId": workspace.id,
        "logs": [{**log("kube-audit-admin"), "retentionPolicy": {"days": 0, "enabled": False}}],
        "metrics": [],
        "logAnalyticsDestinationType": "Dedicated",
        "azureApiVersion": "2021-05-01-preview",
    }
    more = setting(cluster, workspace, log("guard"))
    updated = ready.update(created, more)
    assert [entry["category"] for entry in updated.old_outputs["logs"]] == ["guard"]
    assert "logAnalyticsDestinationType" not in updated.old_outputs
    assert ready.diff(ready.refresh(updated), more).changes == {}


def test_setting_is_refused(ready: Account, cluster: str, workspace: Resource) -> None:
    kept_for_long = {**log("guard"), "retentionPolicy": {"days": 30, "enabled": True}}
    for changes, code, text in (
        ({"logs": [log("kube-proxy")]}, "BadRequest", "Category 'kube-proxy' is not supported."),
        ({"metrics": [log("guard")]}, "BadRequest", "Category 'guard' is not supported."),
        ({"logs": [{"categoryGroup": "some", "enabled": True}]}, "BadRequest", "Category 'some' is not supported."),
        ({"logs": [{**log("guard"), "categoryGroup": "audit"}]}, "BadRequest", "Exactly one of category"),
        ({"logs": [kept_for_long]}, "BadRequest", "does not support retention for new diagnostic settings"),
        ({"workspaceId": None}, "BadRequest", "At least one data sink needs to be specified."),
        ({"workspaceId": workspace.id + "2"}, "ResourceNotFound", "workspaces/logs2"),
        ({"workspaceId": cluster}, "ResourceNotFound", "managedClusters/aks"),
        ({"resourceUri": cluster + "2"}, "ResourceNotFound", "managedClusters/aks2"),
    ):
        refused = refusal(ready.create, SETTING, setting(cluster, workspace, log("guard")) | changes)
        assert refused.code == code, changes
        assert text in refused.message
    categories = (
        "kube-apiserver kube-audit kube-audit-admin kube-controller-manager kube-scheduler cluster-autoscaler "
        "cloud-controller-manager guard csi-azuredisk-controller csi-azurefile-controller csi-snapshot-controller"
    )
    ready.create(SETTING, setting(cluster, workspace, *map(log, categories.split()), metrics=[log("AllMetrics")]))


def test_setting_of_something_else_is_not_emulated(ready: Account, workspace: Resource) -> None:
    pool = ready.create(POOL, REGULAR)
    with pytest.raises(Refused, match="does not know the log categories of"):
        ready.create(SETTING, setting(pool.id, workspace, log("guard")))


def test_category_goes_to_a_workspace_once(ready: Account, cluster: str, workspace: Resource) -> None:
    first = setting(cluster, workspace, log("guard"), log("kube-apiserver", enabled=False))
    created = ready.create(SETTING, first)
    second = {**first, "name": "second", "logs": [{"categoryGroup": "allLogs", "enabled": True}]}
    refused = refusal(ready.create, SETTING, second)
    assert (refused.status, refused.code) == (409, "Conflict")
    assert refused.message == (
        f"Data sink '{workspace.id}' is already used in diagnostic setting 'control-plane' for category 'guard'. Data "
        "sinks can't be reused in different settings on the same category for the same resource."
    )
    ready.create(SETTING, {**second, "logs": [log("kube-apiserver")]})
    elsewhere = ready.create(WORKSPACE, {**WORKSPACE_INPUTS, "workspaceName": "elsewhere"})
    ready.create(SETTING, {**first, "name": "third", "workspaceId": elsewhere.id})
    ready.update(created, first)
