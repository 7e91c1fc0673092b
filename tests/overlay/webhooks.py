"""Servers of admission webhooks among rendered objects, and the NetworkPolicies over their pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]

WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")


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
    """The server of each webhook; a Service that is not there, or has no pods, is left out."""
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
    """The servers that a NetworkPolicy isolates and none opens to all at their port: the API server has no address to name."""
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
    """Labels of a workload's pods in the cluster.

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
