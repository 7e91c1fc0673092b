"""The stack's rules as declared objects: in a new cluster, in an existing one with and without the kind, and on Azure."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.layer import discovery
from config.clouds.traits import RulesKind
from tests.components.features import cluster, named, with_
from tests.components.program import Cloud, Declared, declare, kubeconfig_of
from tests.config.stack_files import CONFIGS, load
from tests.dashboards.panel_queries import FILES

pytestmark = pytest.mark.program

RULE = "kubernetes:monitoring.coreos.com/v1:PrometheusRule"
CLUSTER_RULES = "kubernetes:monitoring.googleapis.com/v1:ClusterRules"
GROUP = "alertsmanagement:PrometheusRuleGroup"
EXISTING = {
    "kubeflow-spot:release": "r2026-11",
    "kubeflow-spot:cloud": {
        "provider": "existing",
        "name": "lab",
        "kubeconfig": {"contents": kubeconfig_of("https://lab")},
    },
    "kubeflow-spot:pools": [{"name": "t4", "machine": "rack-1", "maxNodes": 4, "gpus": 1, "gpuModel": "nvidia-t4"}],
}


def happy(name: str) -> dict[str, Any]:
    settings: dict[str, Any] = load(CONFIGS / f"{name}.happy.yaml")["config"]
    return settings


class Updated(Cloud):
    """A cloud after an update with these outputs."""

    def __init__(self, outputs: Mapping[str, Any]) -> None:
        super().__init__(None)
        self._outputs = outputs

    def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
        if args.token == "pulumi:pulumi:readStackOutputs":
            return {"outputs": self._outputs}
        return super().call(args)


def test_a_new_cluster_gets_the_prometheus_rule_with_its_second_update(warnings: list[str]) -> None:
    settings = happy("alerts-operator")
    first = declare(settings)
    assert first.of(RULE) == {}
    assert [
        text for text in warnings if text.startswith("alerts.declare: a new cluster has no Prometheus operator yet")
    ]
    warnings.clear()
    second = declare(settings, cloud=Updated(first.outputs))
    (rule,) = second.of(RULE).values()
    assert [text for text in warnings if "alerts" in text] == []
    assert rule.inputs["metadata"] == {
        "name": "kubeflow-spot-test-alerts",
        "namespace": "prometheus",
        "labels": {
            "release": "kube-prometheus-stack",
            "app.kubernetes.io/instance": "test",
            "app.kubernetes.io/part-of": "kubeflow-spot",
        },
    }
    assert rule.inputs["spec"] == second.outputs["alerts"]


def in_existing(monkeypatch: pytest.MonkeyPatch, served: bool) -> tuple[Declared, list[Any]]:
    asked: list[Any] = []

    def serves(kubeconfig: str, key: str, kind: RulesKind, namespace: str | None) -> bool:
        asked.append((key, kind.plural, namespace))
        return served

    monkeypatch.setattr(discovery, "serves", serves)
    return declare(with_(EXISTING, alerts={"declare": "operator"})), asked


@pytest.mark.usefixtures("contents")
def test_an_existing_cluster_gets_it_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    declared, asked = in_existing(monkeypatch, served=True)
    (rule,) = declared.of(RULE).values()
    assert rule.inputs["metadata"]["namespace"] == "monitoring"
    assert asked == [("cloud.kubeconfig", "prometheusrules", "monitoring")]


@pytest.mark.usefixtures("contents")
def test_an_existing_cluster_without_the_kind_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = r"cluster lab has no PrometheusRule of monitoring\.coreos\.com/v1\n  install"
    with pytest.raises(pulumi.RunError, match=text):
        in_existing(monkeypatch, served=False)


def test_gke_gets_rules_that_see_every_namespace() -> None:
    declared = declare(happy("gke-alerts"))
    (rules,) = declared.of(CLUSTER_RULES).values()
    assert "namespace" not in rules.inputs["metadata"]
    assert rules.inputs["spec"] == declared.outputs["alerts"]


def test_azure_gets_groups_for_one_cluster_of_its_workspace_and_the_labels_that_rules_read() -> None:
    settings = happy("alerts")
    declared = declare(settings)
    groups = named(declared, GROUP)
    assert groups.keys() == {f"ml-watched-alerts-{number}" for number in range(1, len(groups) + 1)}
    for name, group in groups.items():
        assert group["ruleGroupName"] == f"ml-watched-test-alerts-{name.rpartition('-')[2]}"
        assert (group["clusterName"], group["interval"], len(group["scopes"])) == ("ml-watched", "PT1M", 1)
    rules = {rule.get("alert"): rule for group in groups.values() for rule in group["rules"]}
    assert rules["SpotGone"]["for"] == "PT15M"
    assert rules["SpotGone"]["actions"][0]["actionGroupId"].endswith("/actionGroups/on-call")
    state = cluster(declared)["azureMonitorProfile"]["metrics"]["kubeStateMetrics"]
    assert state == {"metricLabelsAllowlist": "nodes=[kubeflow-spot.dev/pool,kubeflow-spot.dev/capacity]"}

    # The update after that takes the labels away again, the next one leaves them as they are.
    without = {key: value for key, value in settings.items() if not key.endswith(":alerts")}
    without = with_(without, cloud={**settings["kubeflow-spot:cloud"], "monitoring": {"metrics": {}}})
    second = declare(without, cloud=Updated(declared.outputs))
    assert cluster(second)["azureMonitorProfile"]["metrics"]["kubeStateMetrics"] == {"metricLabelsAllowlist": ""}
    third = declare(without, cloud=Updated(second.outputs))
    assert "kubeStateMetrics" not in cluster(third)["azureMonitorProfile"]["metrics"]


@pytest.mark.parametrize(
    ("path", "form"),
    [("examples/alerts/aks.yaml", r'kubestate = "([a-z_|]+)"'), ("examples/alerts/gke.yaml", r"regex: ([a-z_|]+)")],
)
def test_every_series_of_kube_state_metrics_that_a_rule_or_dashboard_reads_is_fetched(path: str, form: str) -> None:
    (listed,) = re.findall(form, (Path(__file__).parents[2] / path).read_text())
    rules = json.dumps([declare(happy(name)).outputs["alerts"] for name in ("alerts", "gke-alerts")])
    boards = [file.read_text() for file in FILES]
    assert set(listed.split("|")) == set(re.findall(r"\bkube_[a-z_]+", "".join([rules, *boards])))
