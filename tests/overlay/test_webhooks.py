"""The API server reaches each webhook: through NetworkPolicies, and on GKE through the firewall."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.clouds.gcp.rules.gcp_network_rules import WEBHOOKS
from overlay import render
from tests.overlay import tree, webhooks
from tests.overlay.tree import MANIFESTS, built

pytestmark = pytest.mark.process

BY_GKE = {443, 10250}
"""Ports of nodes that GKE's own firewall rule opens to the control plane (page private-clusters)."""


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> list[webhooks.Object]:
    """The tree with the overlay."""
    return built(tmp_path_factory.mktemp("webhooks") / "work", "gcp").objects


def test_no_policy_shuts_a_webhook_off(objects: list[webhooks.Object]) -> None:
    assert len(webhooks.servers(objects)) == 6
    assert webhooks.shut(objects) == []


def test_26_03_alone_shuts_off_one_of_kserves() -> None:
    plain = render.kustomize(tree.kubectl(), MANIFESTS / "example")
    assert [server.service for server in webhooks.shut(plain)] == ["llmisvc-webhook-server-service"]


def test_a_webhook_whose_policy_goes_by_a_sidecars_label_is_shut_off_without_the_sidecar(
    objects: list[webhooks.Object],
) -> None:
    # Why sortOptions puts the injector before the pods.
    bare = [{**o, "metadata": {**o["metadata"], "labels": {}}} if o["kind"] == "Namespace" else o for o in objects]
    assert [server.service for server in webhooks.shut(bare)] == ["kubeflow-trainer-controller-manager"]


def test_the_firewall_rule_for_gke_names_the_port_of_each_webhook(objects: list[webhooks.Object]) -> None:
    ports = {server.port for server in webhooks.servers(objects)} - BY_GKE
    assert ports == {int(port) for port in WEBHOOKS.split(",")}
    text = (Path(tree.PROJECT) / "docs" / "google-cloud.md").read_text()
    (said,) = (part for part in text.split("\n## ") if part.startswith("Webhooks on private nodes"))
    assert all(str(port) in said for port in ports)


def test_the_gateway_lets_in_what_comes_from_outside(objects: list[webhooks.Object]) -> None:
    (policy,) = (o for o in objects if o["metadata"]["name"] == "ingress-from-outside")
    assert policy["spec"]["podSelector"] == {"matchLabels": {"app": "istio-ingressgateway"}}
    assert [(rule.get("from"), [p["port"] for p in rule["ports"]]) for rule in policy["spec"]["ingress"]] == [
        (None, [8080, 8443])
    ]
