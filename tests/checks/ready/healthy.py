"""Healthy clusters that look broken: what a cluster goes through, and the one check that has a note or nothing to say of it."""

from __future__ import annotations

from typing import Any

from tests.checks.ready.broken import (
    Parts,
    Row,
    budget,
    covered_twice,
    gpu_node,
    istio,
    not_ready,
    plain_nodes,
    pod,
    set_status,
    small,
)

TAKEN = "2026-11-26T01:56:00+00:00"
"""Some minutes after the recorded nodes joined."""


def _tainted(key: str) -> Any:
    return lambda p: gpu_node(p)["spec"]["taints"].append({"key": key, "effect": "NoSchedule"})


def _no_gpus(parts: Parts) -> None:
    gpu_node(parts)["status"]["allocatable"].update({"nvidia.com/gpu": "0"})


def _old(node: Any) -> None:
    node["metadata"]["creationTimestamp"] = "2026-11-25T00:00:00Z"


def _deallocated(parts: Parts) -> None:
    """AKS with `scaleDownMode: Deallocate`, or a machine that was taken back and not yet removed: an old node, not Ready."""
    _old(gpu_node(parts))
    not_ready(gpu_node(parts))


def _only_the_clouds_label(parts: Parts) -> None:
    """A spot node of a pool that this program did not make."""
    _deallocated(parts)
    del gpu_node(parts)["metadata"]["labels"]["kubeflow-spot.dev/pool"]
    del gpu_node(parts)["metadata"]["labels"]["kubeflow-spot.dev/capacity"]


def _joining(parts: Parts) -> None:
    not_ready(plain_nodes(parts)[-1])


def _foreign_istio(parts: Parts) -> None:
    for node in parts["nodes"]:
        node["spec"]["providerID"] = f"k3s://{node['metadata']['name']}"
    parts["daemonSets"].append(istio("/var/lib/rancher/k3s/data/cni"))


def _spot_group_unhealthy(parts: Parts) -> None:
    set_status(parts, lambda g: next(i for i in g if "aks-t4-" in i["name"])["health"].update(status="Unhealthy"))


def initializing(time: str) -> Any:
    status = f"time: {time}\nautoscalerStatus: Initializing\n"
    return lambda parts: parts["autoscaler"]["data"].update(status=status)


_PASSING = (
    "ignore-taint.cluster-autoscaler.kubernetes.io/gpu",
    "status-taint.cluster-autoscaler.kubernetes.io/gpu",
    "startup-taint.cluster-autoscaler.kubernetes.io/gpu",
    "node.cilium.io/agent-not-ready",
    "cni.istio.io/not-ready",
    "readiness.k8s.io/network",
)

HEALTHY = (
    Row("growth-unknown", small, "room", "How far their pools may grow", ("staging",)),
    Row("spot-taken-back", _deallocated, "nodes", "taken back or stopped"),
    Row("spot-of-another-program", _only_the_clouds_label, "nodes", "taken back or stopped"),
    Row("node-joining", _joining, "nodes", "just joined"),
    Row("driver-not-yet-there", _no_gpus, "gpus", "reports 0 of 1 GPUs, and joined a moment ago"),
    Row("spot-group-unhealthy", _spot_group_unhealthy, "autoscaler", "were taken back or stopped", ("dev",)),
    Row("no-expander", lambda p: p.update(expander=None), "order", "name the stack|another than priority", ("dev",)),
    Row(
        "autoscaler-starting",
        initializing("2026-11-26 01:51:00.5 +0000 UTC"),
        "autoscaler",
        "has just started",
        ("dev",),
    ),
    Row("autoscaler-starting-some-time", initializing(""), "autoscaler", "has just started", ("dev",)),
    Row("taint-of-nobody", _tainted("team"), "pools", "has the taint team.*, which no pool declares"),
    *(Row(f"taint-{key.partition('/')[0]}", _tainted(key), "pools", "") for key in _PASSING),
    Row("istio-on-an-unknown-cloud", _foreign_istio, "istio", "is not known here"),
    Row(
        "one-replica-of-the-platform",
        lambda p: p["budgets"].append(budget("istio-system", minAvailable=1)),
        "budgets",
        "istio-system/web .* waits for it",
    ),
    Row("evictable", lambda p: p["budgets"].append(budget(allowed=1, maxUnavailable=1)), "budgets", ""),
    Row("pods-not-healthy-yet", lambda p: p["budgets"].append(budget(healthy=1, minAvailable=2)), "budgets", ""),
    Row("other-pods", lambda p: covered_twice(p, matchLabels={"app": "db"}), "budgets", ""),
    Row(
        "other-values",
        lambda p: covered_twice(p, matchExpressions=[{"key": "app", "operator": "In", "values": ["db"]}]),
        "budgets",
        "",
    ),
    Row(
        "an-hour-to-end",
        lambda p: p["pods"].append(pod() | {"spec": {"nodeName": "n", "terminationGracePeriodSeconds": 3600}}),
        "slow-ends",
        "team-a/web-0 may take longer",
    ),
    Row(
        "an-agent-on-each-node",
        lambda p: p["pods"].append(
            pod(ownerReferences=[{"kind": "DaemonSet"}])
            | {"spec": {"nodeName": "n", "terminationGracePeriodSeconds": 3600}}
        ),
        "slow-ends",
        "",
    ),
    Row(
        "finalizer",
        lambda p: p["pods"].append(pod(finalizers=["example.com/save"])),
        "slow-ends",
        "team-a/web-0 stay after their deletion",
    ),
    Row(
        "a-jobs-finalizer",
        lambda p: p["pods"].append(pod(finalizers=["batch.kubernetes.io/job-tracking"])),
        "slow-ends",
        "",
    ),
)
"""Rows whose `says` is of a note; empty where nothing is to be said."""

ROWS = [(stack, row) for row in HEALTHY for stack in row.stacks]
