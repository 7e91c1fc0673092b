"""The API server reaches each webhook: through NetworkPolicies over its pods, and on GKE through the firewall."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pytest

from config.clouds.gcp.rules.gcp_network_rules import WEBHOOKS
from overlay import render
from overlay.observing import WORKLOADS
from tests.overlay import tree
from tests.overlay.tree import MANIFESTS, Object, built

pytestmark = pytest.mark.process

BY_GKE = {443, 10250}
"""Ports of nodes that GKE's own firewall rule opens to the control plane (page private-clusters)."""


@dataclass(frozen=True)
class Server:
    """The pods behind a Service that the API server calls."""

    namespace: str
    service: str
    port: int
    """The port at the pod: there the call arrives (kubernetes/kubernetes issue 79739)."""
    labels: Mapping[str, str]
    """The pod's, with the one that Istio's injector adds."""


def servers(objects: Iterable[Object]) -> list[Server]:
    """Return the server of each webhook; a Service that is not there, or has no pods, is left out."""
    objects = list(objects)
    return [
        Server(*called[:2], _target(service, called[2], pod), labels)
        for called in sorted(set(_called(objects)))
        for service in _of(objects, called[0], "Service")
        if service["metadata"]["name"] == called[1]
        for workload in _of(objects, called[0], *WORKLOADS)
        if (pod := workload["spec"]["template"])
        and service["spec"]["selector"].items() <= (labels := _labels(objects, workload)).items()
    ]


def shut(objects: Iterable[Object]) -> list[Server]:
    """Return the servers that a NetworkPolicy isolates and none opens to all: the API server has no address to name."""
    objects = list(objects)
    closed = []
    for server in servers(objects):
        over = [
            policy["spec"]
            for policy in _of(objects, server.namespace, "NetworkPolicy")
            if _selects(policy["spec"]["podSelector"], server.labels)
        ]
        if over and not any(_opens(rule, server.port) for policy in over for rule in policy.get("ingress", [])):
            closed.append(server)
    return closed


def _called(objects: Iterable[Object]) -> Iterator[tuple[str, str, int]]:
    for body in objects:
        for hook in body.get("webhooks", []):
            if service := hook["clientConfig"].get("service"):
                yield service["namespace"], service["name"], service.get("port", 443)


def _of(objects: Iterable[Object], namespace: str, *kinds: str) -> Iterator[Object]:
    return (o for o in objects if o["kind"] in kinds and o["metadata"].get("namespace") == namespace)


def _labels(objects: Iterable[Object], workload: Object) -> dict[str, str]:
    """Return the labels of a workload's pods in the cluster.

    Istio names a pod to which it gives a sidecar: by app.kubernetes.io/name, else app, else the workload's name
    (docs.cloud.google.com/service-mesh, page define-canonical-service).
    """
    own, metadata = workload["spec"]["template"]["metadata"].get("labels", {}), workload["metadata"]
    space = next(o for o in objects if o["kind"] == "Namespace" and o["metadata"]["name"] == metadata["namespace"])
    injects = (space["metadata"].get("labels") or {}).get("istio-injection") == "enabled"
    if not injects or own.get("sidecar.istio.io/inject") == "false":
        return dict(own)
    called = own.get("app.kubernetes.io/name") or own.get("app") or metadata["name"]
    return {"service.istio.io/canonical-name": called, **own}


def _target(service: Object, port: int, pod: Object) -> int:
    (target,) = (each.get("targetPort", port) for each in service["spec"]["ports"] if each["port"] == port)
    named = {p.get("name"): p["containerPort"] for c in pod["spec"]["containers"] for p in c.get("ports", [])}
    return int(named.get(target, target))


def _selects(selector: Object, labels: Mapping[str, str]) -> bool:
    wanted = [
        *({"key": key, "operator": "In", "values": [value]} for key, value in selector.get("matchLabels", {}).items()),
        *selector.get("matchExpressions", []),
    ]
    assert all(each["operator"] == "In" for each in wanted), "another operator: teach it here"
    return all(labels.get(each["key"]) in each["values"] for each in wanted)


def _opens(rule: Object, port: int) -> bool:
    return not rule.get("from") and ("ports" not in rule or port in [each.get("port") for each in rule["ports"]])


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> list[Object]:
    """Return the tree with the overlay."""
    return built(tmp_path_factory.mktemp("webhooks") / "work", "gcp").objects


def test_no_policy_shuts_a_webhook_off(objects: list[Object]) -> None:
    assert len(servers(objects)) == 6
    assert shut(objects) == []


def test_26_03_alone_shuts_off_one_of_kserves() -> None:
    plain = render.kustomize(tree.kubectl(), MANIFESTS / "example")
    assert [server.service for server in shut(plain)] == ["llmisvc-webhook-server-service"]


def test_a_webhook_whose_policy_goes_by_a_sidecars_label_is_shut_off_without_the_sidecar(
    objects: list[Object],
) -> None:
    # Why sortOptions puts the injector before the pods.
    bare = [{**o, "metadata": {**o["metadata"], "labels": {}}} if o["kind"] == "Namespace" else o for o in objects]
    assert [server.service for server in shut(bare)] == ["kubeflow-trainer-controller-manager"]


def test_the_firewall_rule_for_gke_names_the_port_of_each_webhook(objects: list[Object]) -> None:
    ports = {server.port for server in servers(objects)} - BY_GKE
    assert ports == {int(port) for port in WEBHOOKS.split(",")}
    text = (tree.PROJECT / "docs" / "gke.md").read_text()
    (said,) = (part for part in text.split("\n## ") if part.startswith("Webhooks on private nodes"))
    assert all(str(port) in said for port in ports)


def test_the_gateway_lets_in_what_comes_from_outside(objects: list[Object]) -> None:
    (policy,) = (o for o in objects if o["metadata"]["name"] == "ingress-from-outside")
    assert policy["spec"]["podSelector"] == {"matchLabels": {"app": "istio-ingressgateway"}}
    assert [(rule.get("from"), [p["port"] for p in rule["ports"]]) for rule in policy["spec"]["ingress"]] == [
        (None, [8080, 8443])
    ]
