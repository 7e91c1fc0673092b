"""Alerts of a stack: their names, thresholds and runbooks. Whether they fire: tests/stacks/test_alert_drills.py."""

import re
from typing import Any

import pytest

from config.alerts import series
from config.alerts.alert_rules import alert_rules, rule_group
from config.alerts.series import chains
from config.clouds import registry
from config.model.alerts import NAMES
from config.placement.node_pools import node_pools
from config.stack_file import loader
from tests.config.stack import good, on_gke, spot
from tests.docs.pages import DOCS

GENERAL = {"name": "general", "machine": "Standard_D8ds_v5", "minNodes": 1, "maxNodes": 6}
T4 = spot("t4", chain="t4big 2")
T4BIG = spot("t4big", "Standard_NC16as_T4_v3", 4)
AKS = good(pools=[GENERAL, T4, T4BIG], growth={"acceptedWait": "30m"})
GKE = {**on_gke([{**GENERAL, "machine": "n2-standard-8"}, spot("l4", "g2-standard-8", chain="2")]), "growth": {}}


def group(raw: dict[str, Any], **alerts: Any) -> dict[str, dict[str, Any]]:
    """Return the alerts of a stack file's rule group, by name."""
    return {rule["alert"]: rule for rule in rules(raw, **alerts) if "alert" in rule}


def rules(raw: dict[str, Any], **alerts: Any) -> list[dict[str, Any]]:
    """Return the rules of a stack file's rule group."""
    spec, problems = loader.read_stack({**raw, "alerts": alerts})
    assert spec is not None, problems
    cloud = registry.cloud_of(spec.cloud)
    found: list[dict[str, Any]] = rule_group(spec, node_pools(spec, cloud), cloud)["rules"]
    return found


def test_every_alert_has_a_runbook_and_each_runbook_an_alert() -> None:
    headings = re.findall(r"^## (\w+)$", (DOCS / "runbooks.md").read_text(), re.MULTILINE)
    assert set(headings) == group(AKS).keys()
    assert group(GKE).keys() == group(AKS).keys() - {"GrowthOrderChanged"}
    for name, rule in group(AKS).items():
        assert rule["annotations"]["runbook_url"] == f"docs/runbooks.md#{name.lower()}"
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert len(rule["annotations"]["summary"]) < 120


def test_the_accepted_wait_is_the_threshold_of_waits() -> None:
    for wait, seconds in (("30m", 1800), ("1h", 3600)):
        rules = group({**AKS, "growth": {"acceptedWait": wait}})
        for name in ("SpotGone", "GpuPodWaitsPoolsFull", "GpuPodWaitsNoCapacity", "GpuBudgetExceeded"):
            assert rules[name]["for"] == f"{seconds}s", name
        assert rules["FallbackLasts"]["for"] == f"{2 * seconds if seconds > 1800 else 3600}s"


def test_a_budget_is_set_changed_and_removed() -> None:
    budgets = [
        group(AKS, **keys)["GpuBudgetExceeded"]["expr"] for keys in ({"hourlyBudget": 5}, {"hourlyBudget": 7.5}, {})
    ]
    bounds = [float(budget.rpartition(" ")[2]) for budget in budgets]
    assert bounds[:2] == [5, 7.5]
    # Every pool but the twin at its largest.
    assert 0 < bounds[2] < 20
    assert "GpuBudgetExceeded" not in group(
        {**AKS, "pools": [GENERAL, spot("t4", "Standard_Unheard_v9", gpus=1, chain="2")]}
    )


def test_chains_and_budget_are_recorded_for_dashboards() -> None:
    recorded = [rule for rule in rules(AKS, hourlyBudget=5) if "record" in rule]
    chain_nodes = [(rule["labels"], rule["expr"]) for rule in recorded if rule["record"] == series.CHAIN_NODES]
    assert chain_nodes == [
        ({"chain": "t4", "capacity": "spot"}, f'sum({series.NODES}{{pool=~"t4|t4big"}}) or vector(0)'),
        ({"chain": "t4", "capacity": "on-demand"}, f'sum({series.NODES}{{pool=~"t4od"}}) or vector(0)'),
    ]
    assert [rule["expr"] for rule in recorded if rule["record"] == series.BUDGET] == ["vector(5)"]


def test_an_alert_of_the_guard_needs_the_series_that_the_guards_mode_records() -> None:
    for mode in ("enforce", "warn"):
        found = rules({**AKS, "scheduling": {"guard": {"mode": mode}}})
        assert (series.BYPASSED in {rule.get("record") for rule in found}) == (mode == "enforce")
        assert ("GuardBypassed" in {rule.get("alert") for rule in found}) == (mode == "enforce")


def test_alerts_are_left_out_and_runbooks_move() -> None:
    rules = group(AKS, without=["FallbackLasts"], runbooks="https://runbooks.example.com/gpu")
    assert "FallbackLasts" not in rules
    assert rules["SpotGone"]["annotations"]["runbook_url"] == "https://runbooks.example.com/gpu#spotgone"


def test_each_alert_may_be_left_out_and_another_name_is_warned_of() -> None:
    assert group(AKS).keys() == set(NAMES)
    assert group(AKS, without=list(NAMES)) == {}
    spec, problems = loader.read_stack({**AKS, "alerts": {"without": ["spotGone", "Nothing", "SpotGone"]}})
    assert spec is not None
    found = {problem.path: problem.remedy for problem in problems if problem.path.startswith("alerts")}
    assert found.keys() == {"alerts.without[0]", "alerts.without[1]"}
    assert found["alerts.without[0]"] == "write `SpotGone`"
    assert found["alerts.without[1]"].startswith("remove it; alerts are SpotGone, ")


def test_without_gpus_there_is_no_alert_of_gpus() -> None:
    assert group({**AKS, "pools": [GENERAL]}).keys() == {"UnreadyNodesNearTheStop", "KubernetesSupportEnds"}


@pytest.mark.parametrize(
    ("pools", "found"),
    [
        ([T4, T4BIG], [("t4", ("t4", "t4big"), "t4od")]),
        ([T4BIG], [("t4big", ("t4big",), None)]),
        (
            [T4BIG, spot("a100", "Standard_NC24ads_A100_v4", 2)],
            [("a100", ("a100",), None), ("t4big", ("t4big",), None)],
        ),
    ],
)
def test_a_chain_has_its_spot_pools_and_its_twin(
    pools: list[dict[str, Any]], found: list[tuple[str, tuple[str, ...], str | None]]
) -> None:
    spec, _ = loader.read_stack({**AKS, "pools": [GENERAL, *pools], "growth": {"acceptedWait": "24h"}})
    assert spec is not None
    cloud = registry.cloud_of(spec.cloud)
    assert [(each.name, each.spot, each.twin) for each in chains(node_pools(spec, cloud))] == found
    names = {alert.name for alert in alert_rules(spec, node_pools(spec, cloud), cloud)}
    assert ("FallbackLasts" in names) == (found[0][2] is not None)
