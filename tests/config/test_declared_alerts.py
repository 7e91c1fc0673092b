"""Alerts as Azure Monitor's rule groups: pure rendering of the rule group that Prometheus reads."""

import pytest

from config.alerts import alert_rules
from config.clouds import registry
from config.clouds.azure import azure_alerts
from config.placement.node_pools import node_pools
from tests.config.stack import spec
from tests.config.stack_files import CONFIGS, settings

GROUP_ID = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Insights/actionGroups/on-call"
RECORDING = {"record": "a:b", "expr": "sum(c)", "labels": {"pool": "t4"}}


def alert(seconds: int, severity: str) -> dict[str, object]:
    return {
        "alert": "Waits",
        "expr": "a:b > 1",
        "for": f"{seconds}s",
        "labels": {"severity": severity},
        "annotations": {"summary": "{{ $value }} pods wait"},
    }


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "PT0S"),
        (1, "PT1S"),
        (60, "PT1M"),
        (90, "PT1M30S"),
        (600, "PT10M"),
        (3600, "PT1H"),
        (5400, "PT1H30M"),
        (86400, "P1D"),
        (7 * 86400, "P7D"),
        (86400 + 1800, "P1DT30M"),
        (999_999 * 3600, "P41666DT15H"),
    ],
)
def test_durations_are_iso_8601_with_the_largest_units(seconds: int, text: str) -> None:
    assert azure_alerts.iso_duration(seconds) == text


@pytest.mark.parametrize(("severity", "number"), [("critical", 0), ("warning", 2), ("info", 3)])
def test_an_alert_gets_azures_names_severity_and_the_named_action_groups(severity: str, number: int) -> None:
    ((rule,),) = azure_alerts.rule_groups({"rules": [alert(600, severity)]}, "lab", [GROUP_ID])
    assert rule == {
        "alert": "Waits",
        "expression": "a:b > 1",
        "for": "PT10M",
        "severity": number,
        "labels": {"severity": severity},
        "annotations": {"summary": "{{ $value }} pods wait"},
        "actions": [{"actionGroupId": GROUP_ID}],
    }


def test_an_alert_without_delay_or_receiver_names_none() -> None:
    ((rule,),) = azure_alerts.rule_groups({"rules": [alert(0, "info")]}, "lab", [])
    assert rule.keys() & {"for", "actions"} == set()


def test_a_recorded_series_keeps_the_label_by_which_azure_selects_a_cluster() -> None:
    ((rule,),) = azure_alerts.rule_groups({"rules": [RECORDING]}, "lab", [GROUP_ID])
    assert rule == {"record": "a:b", "expression": "sum(c)", "labels": {"pool": "t4", "cluster": "lab"}}


@pytest.mark.parametrize(("rules", "sizes"), [(1, [1]), (20, [20]), (21, [20, 1]), (60, [20, 20, 20])])
def test_no_group_has_more_than_twenty_rules(rules: int, sizes: list[int]) -> None:
    groups = azure_alerts.rule_groups({"rules": [RECORDING] * rules}, "lab", [])
    assert [len(group) for group in groups] == sizes


def test_every_rule_of_a_stack_is_in_one_group_and_in_its_place() -> None:
    stack = spec(settings(CONFIGS / "alerts.happy.yaml"))
    cloud = registry.cloud_of(stack.cloud)
    group = alert_rules.rule_group(stack, node_pools(stack, cloud), cloud)
    groups = azure_alerts.rule_groups(group, stack.name, [])
    assert len(groups) > 1
    names = [rule.get("alert") or rule["record"] for each in groups for rule in each]
    assert names == [rule.get("alert") or rule["record"] for rule in group["rules"]]
    assert "FallbackLasts" not in names
