"""Rule groups of managed Prometheus: each refusal with a near neighbour that is accepted."""

from typing import Any

import pytest

from sandbox.cloud.provider import Resource
from sandbox.tests.rule_walk import marked

from .conftest import Account, Props, ml, refusal

ACCOUNT = "azure-native:monitor:AzureMonitorWorkspace"
GROUP = "azure-native:alertsmanagement:PrometheusRuleGroup"
ON_CALL = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Insights/actionGroups/on-call"
RECORDING: Props = {"record": "a:b:sum", "expression": "sum(c)"}
ALERT: Props = {"alert": "Waits", "expression": "a:b:sum > 1"}


@pytest.fixture
def workspace(ready: Account) -> Resource:
    return ready.create(ACCOUNT, ml(azureMonitorWorkspaceName="metrics"))


def group(workspace: Resource, **changes: Any) -> Props:
    return ml(ruleGroupName="alerts", scopes=[workspace.id], rules=[RECORDING], **changes)


def alerting(**changes: Any) -> Props:
    return {"rules": [{**ALERT, **changes}]}


def test_a_group_and_its_alerts_get_the_documented_defaults(ready: Account, workspace: Resource) -> None:
    body = ready.create(GROUP, {**group(workspace), "rules": [RECORDING, ALERT]}).old_outputs
    assert (body["enabled"], body["interval"]) == (True, "PT1M")
    assert body["rules"] == [
        {**RECORDING, "enabled": True},
        {
            **ALERT,
            "enabled": True,
            "severity": 3,
            "resolveConfiguration": {"autoResolved": True, "timeToResolve": "PT5M"},
        },
    ]


@pytest.mark.parametrize(
    ("bad", "text", "good"),
    [
        ({"interval": "PT59S"}, "between 1 and 15 minutes", {"interval": "PT1M"}),
        ({"interval": "PT16M"}, "between 1 and 15 minutes", {"interval": "PT15M"}),
        ({"interval": "60s"}, "between 1 and 15 minutes", {"interval": "PT60S"}),
        ({"rules": [RECORDING] * 21}, "21 rules", {"rules": [RECORDING] * 20}),
        ({"rules": []}, "0 rules", {"rules": [ALERT]}),
        ({"rules": [{**RECORDING, **ALERT}]}, "exactly one of alert and record", {"rules": [RECORDING, ALERT]}),
        ({"rules": [{"expression": "a"}]}, "exactly one of alert and record", {"rules": [ALERT]}),
        (alerting(expression=" "), "expression is empty", alerting(expression="up")),
        ({"rules": [{**RECORDING, "record": "a-b"}]}, "not the name of a metric", {"rules": [RECORDING]}),
        ({"rules": [{**RECORDING, "for": "PT1M"}]}, "not a property of a recording rule", alerting(**{"for": "PT1M"})),
        (alerting(labels={"a-b": "c"}), "not the name of a label", alerting(labels={"a_b": "c"})),
        (alerting(severity=5), "severity 5", alerting(severity=4)),
        (alerting(severity=-1), "severity -1", alerting(severity=0)),
        (alerting(**{"for": "5m"}), "not an ISO 8601 duration", alerting(**{"for": "P1DT1H"})),
        (alerting(**{"for": "PT"}), "not an ISO 8601 duration", alerting(**{"for": "PT5M"})),
        (
            alerting(resolveConfiguration={"timeToResolve": "10m"}),
            "not an ISO 8601 duration",
            alerting(resolveConfiguration={"timeToResolve": "PT10M"}),
        ),
        (
            alerting(actions=[{"actionGroupId": ON_CALL.replace("actionGroups", "webtests")}]),
            "not the id of an action group",
            alerting(actions=[{"actionGroupId": ON_CALL}]),
        ),
        ({"ruleGroupName": "a/b"}, "does not match expression", {"ruleGroupName": "a-b"}),
    ],
)
def test_a_group_is_refused(ready: Account, workspace: Resource, bad: Props, text: str, good: Props) -> None:
    if "ruleGroupName" in bad:
        with pytest.raises(Exception, match=text):
            ready.check(GROUP, {**group(workspace), **bad})
    else:
        refused = refusal(ready.create, GROUP, {**group(workspace), **bad})
        assert text in refused.message
        assert marked(str(refused))
    ready.create(GROUP, {**group(workspace), **good})


def test_the_scope_is_one_existing_workspace_for_good(ready: Account, workspace: Resource) -> None:
    other = ready.create(ACCOUNT, ml(azureMonitorWorkspaceName="other"))
    for scopes in ([], [workspace.id, other.id]):
        assert (
            "one Azure Monitor workspace"
            in refusal(ready.create, GROUP, {**group(workspace), "scopes": scopes}).message
        )
    refusal(ready.create, GROUP, {**group(workspace), "scopes": [f"{workspace.id}s"]})
    made = ready.create(GROUP, group(workspace))
    assert "cannot be changed" in refusal(ready.update, made, {**group(workspace), "scopes": [other.id]}).message
    ready.update(made, group(workspace, description="the same workspace"))


def test_a_workspace_has_at_most_500_groups(
    ready: Account, workspace: Resource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.azure.resources.prometheus_rules._MOST_GROUPS", 2)
    for name in ("one", "two"):
        made = ready.create(GROUP, {**group(workspace), "ruleGroupName": name})
    assert "has 2 rule groups" in refusal(ready.create, GROUP, group(workspace)).message
    ready.update(made, {**group(workspace), "ruleGroupName": "two"})
