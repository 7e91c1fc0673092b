"""Declared alerts through the real engine: every key is set, changed and taken out again, and the stack comes up anew."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.base.home import Home
from sandbox.cloud.state import Record, Store
from sandbox.cluster import clusters
from sandbox.tests.api import Api
from sandbox.tests.stack import PROJECT, Stack
from tests.config.stack_files import CONFIGS, settings

pytestmark = pytest.mark.engine

ON_CALL, OFFICE = (
    f"/subscriptions/00000000-0000-4000-8000-00000000a2e5/resourceGroups/platform/providers/Microsoft.Insights/actionGroups/{n}"
    for n in ("on-call", "office")
)
ALLOWED = "nodes=[kubeflow-spot.dev/pool,kubeflow-spot.dev/capacity]"
OPERATOR = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "prometheusrules.monitoring.coreos.com"},
    "spec": {
        "group": "monitoring.coreos.com",
        "scope": "Namespaced",
        "names": {"plural": "prometheusrules", "singular": "prometheusrule", "kind": "PrometheusRule"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}
"""The kind alone: an operator brings a schema and reads the rules."""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(PROJECT / name, tmp_path)
    yield tmp_path
    for name in ("two", "one", "base"):
        Stack(tmp_path, tmp_path / ".sandbox", name).run("down", "--force", ok=None)


def stack(folder: Path, name: str) -> Stack:
    return Stack(folder, folder / ".sandbox", name)


def up(stack: Stack, config: dict[str, Any], *arguments: str) -> list[tuple[str, str]]:
    """Bring the stack up; return the steps about alerts."""
    stack.write(config)
    return [(op, name) for op, name, _ in stack.up(*arguments) if "alerts" in name]


def records(stack: Stack, type: str) -> list[Record]:
    found = Store(stack.home / "base" / "cloud" / "azure.json").read().records.values()
    return [record for record in found if record.token.rpartition(":")[2] == type]


def allowed(stack: Stack) -> str | None:
    (cluster,) = records(stack, "ManagedCluster")
    value: str | None = (
        cluster.body["azureMonitorProfile"]["metrics"].get("kubeStateMetrics", {}).get("metricLabelsAllowlist")
    )
    return value


def rules(stack: Stack) -> dict[str, dict[str, Any]]:
    """Return the rules of all groups in Azure, by name."""
    groups = records(stack, "PrometheusRuleGroup")
    assert all(len(group.body["rules"]) <= 20 and group.body["clusterName"] == "ml-watched" for group in groups)
    return {rule.get("alert") or rule["record"]: rule for group in groups for rule in group.body["rules"]}


def objects(folder: Path, path: str) -> dict[str, Any]:
    """Return the objects of a list in the cluster, by name."""
    api = Api(clusters.of_stack(Home.of("base", folder)))
    try:
        return {item["metadata"]["name"]: item for item in api.request("GET", f"/apis/{path}")["items"]}
    finally:
        api.close()


def post(folder: Path, path: str, body: dict[str, Any]) -> None:
    api = Api(clusters.of_stack(Home.of("base", folder)))
    api.request("POST", path, body)
    api.close()


def beside(folder: Path, pool: str, namespace: str) -> dict[str, Any]:
    """Return a further stack in the first one's cluster, whose Prometheus has an operator."""
    kubeconfig = clusters.of_stack(Home.of("base", folder)).admin_kubeconfig
    return {
        "release": "r2026-11",
        "cloud": {"provider": "existing", "name": "ml-watched", "kubeconfig": {"file": str(kubeconfig)}},
        "pools": [{"name": pool, "machine": "rack-1", "maxNodes": 2, "gpus": 1, "gpuModel": "nvidia-t4"}],
        "devicePlugin": {"install": "never"},
        "scheduling": {"enabled": False},
        "alerts": {"declare": "operator", "namespace": namespace, "labels": {"release": pool}},
    }


def test_alerts_of_an_aks_cluster(folder: Path) -> None:
    config = settings(CONFIGS / "alerts.happy.yaml")
    config["scheduling"] = {"enabled": False}
    base = stack(folder, "base")

    # Set
    steps = up(base, config)
    assert {op for op, _ in steps} == {"create"}
    groups = records(base, "PrometheusRuleGroup")
    (workspace,) = records(base, "AzureMonitorWorkspace")
    assert {tuple(group.body["scopes"]) for group in groups} == {(workspace.id,)}
    assert {group.id.rpartition("/")[2] for group in groups} == {
        f"ml-watched-base-alerts-{number}" for number in range(1, len(groups) + 1)
    }
    declared = rules(base)
    exported = {rule.get("alert") or rule["record"] for rule in base.outputs()["alerts"]["groups"][0]["rules"]}
    assert declared.keys() == exported
    assert declared["SpotGone"]["actions"] == [{"actionGroupId": ON_CALL}]
    assert (declared["SpotGone"]["severity"], declared["SpotGone"]["for"]) == (2, "PT15M")
    assert allowed(base) == ALLOWED
    assert base.steps() == []

    # Changed
    config["cloud"]["monitoring"]["actionGroups"] = [OFFICE]
    config["alerts"]["without"] = ["SpotGone"]
    assert {op for op, _ in up(base, config)} == {"update"}
    changed = rules(base)
    assert declared.keys() - changed.keys() == {"SpotGone"}
    assert changed.keys() - declared.keys() == {"FallbackLasts"}
    assert {action["actionGroupId"] for rule in changed.values() for action in rule.get("actions", [])} == {OFFICE}

    # Taken out
    config["alerts"] = {}
    config["cloud"]["monitoring"].pop("actionGroups")
    assert {op for op, _ in up(base, config)} == {"delete"}
    assert records(base, "PrometheusRuleGroup") == []
    assert allowed(base) == ""
    assert base.steps() == []


@pytest.mark.slow
def test_two_stacks_in_an_aks_cluster_and_the_cluster_made_anew(folder: Path) -> None:
    config = settings(CONFIGS / "alerts.happy.yaml")
    config["scheduling"] = {"enabled": False}
    base = stack(folder, "base")
    up(base, config)
    declared = rules(base)

    # Its Prometheus has an operator
    one, two = stack(folder, "one"), stack(folder, "two")
    one.write(beside(folder, "one", "monitoring"))
    refused = one.run("preview", ok=False)
    assert "cluster ml-watched has no PrometheusRule of monitoring.coreos.com/v1" in refused.stdout + refused.stderr
    post(folder, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", OPERATOR)
    for namespace in ("monitoring", "prometheus"):
        post(folder, "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    up(one, beside(folder, "one", "monitoring"))
    up(two, beside(folder, "two", "monitoring"))
    path = "monitoring.coreos.com/v1/prometheusrules"
    found = objects(folder, path)
    assert found.keys() == {"kubeflow-spot-one-alerts", "kubeflow-spot-two-alerts"}
    assert found["kubeflow-spot-one-alerts"]["metadata"]["labels"]["release"] == "one"
    (group,) = found["kubeflow-spot-one-alerts"]["spec"]["groups"]
    assert "GpuPodFitsNoPool" in {rule.get("alert") for rule in group["rules"]}
    moved = beside(folder, "two", "prometheus")
    moved["alerts"].pop("labels")
    up(two, moved)
    metadata = objects(folder, path)["kubeflow-spot-two-alerts"]["metadata"]
    assert metadata["namespace"] == "prometheus"
    assert "release" not in metadata["labels"]
    two.run("down")
    assert objects(folder, path).keys() == {"kubeflow-spot-one-alerts"}

    # Destroyed and up again
    base.run("down")
    config["cloud"]["monitoring"].pop("actionGroups")
    config["alerts"] = {"declare": "cloud"}
    up(base, config)
    assert rules(base).keys() == declared.keys() | {"FallbackLasts"}
    assert not any("actions" in rule for rule in rules(base).values())


@pytest.mark.slow
def test_alerts_of_a_gke_cluster(folder: Path) -> None:
    config = settings(CONFIGS / "gke-alerts.happy.yaml")
    config["cloud"]["location"] = "europe-west4-a"
    config["systemPool"]["minNodes"] = 1
    base, path = stack(folder, "base"), "monitoring.googleapis.com/v1/clusterrules"
    up(base, config)
    (found,) = objects(folder, path).values()
    assert found["metadata"]["name"] == "kubeflow-spot-base-alerts"
    assert found["spec"] == {"groups": base.outputs()["alerts"]["groups"]}
    config["alerts"]["without"] = ["SpotGone"]
    assert [op for op, _ in up(base, config)] == ["update"]
    (found,) = objects(folder, path).values()
    assert "SpotGone" not in json.dumps(found)
    config["alerts"] = {}
    assert {op for op, _ in up(base, config)} == {"delete"}
    assert objects(folder, path) == {}
    assert base.steps() == []
