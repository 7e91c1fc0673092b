"""Placement by default through the engine: it comes with the first Kubernetes that has it, works, and goes without a trace."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.sandbox.stack import Stack, until

pytestmark = pytest.mark.engine

POLICIES = "kubernetes:admissionregistration.k8s.io/v1:MutatingAdmissionPolicy"
KINDS = (
    "configmaps", "roles", "rolebindings", "resourcequotas", "validatingadmissionpolicies", "validatingadmissionpolicybindings",
)  # fmt: skip
OURS = ("--all-namespaces", "-l", "app.kubernetes.io/part-of=kubeflow-spot")
ALWAYS = {"cluster-autoscaler-priority-expander"}
"""Of the layer, but nothing of scheduling's."""


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The dev stack on the release before Kubernetes 1.36, brought up."""
    stack = Stack.copy(tmp_path_factory.mktemp("older"))
    stack.write({**stack.config, "release": "r2026-09"})
    done = stack.run("up")
    assert "Kubernetes 1.35 has no MutatingAdmissionPolicy" in done.stdout + done.stderr
    yield stack
    stack.run("down")


def ours(stack: Stack, *kinds: str) -> set[str]:
    """Names of the stack's own objects of these kinds."""
    return {one["metadata"]["name"] for kind in kinds for one in stack.get(kind, *OURS)["items"]}


def test_a_release_on_1_35_has_the_guard_and_no_defaults_and_the_next_one_adds_them_and_replaces_nothing(
    older: Stack,
) -> None:
    assert "kubeflow-spot-dev-guard-profiles" in ours(older, *KINDS)
    shown = older.outputs()["scheduling"]
    assert shown["defaults"] == {}
    assert "scheduling.profiles" in shown["shortfall"][-1]
    older.write({**older.config, "release": "r2026-11"})
    steps = older.steps()
    assert {operation for operation, _, _ in steps} == {"create", "update"}
    assert sorted(name for operation, name, _ in steps if operation == "create") == [
        "ml-dev-defaults",
        "ml-dev-defaults",
        "ml-dev-defaults-binding",
    ]
    older.run("up")
    assert "kubeflow-spot-dev-defaults" in ours(older, "mutatingadmissionpolicies", "mutatingadmissionpolicybindings")
    assert "shortfall" not in older.outputs()["scheduling"]
    assert older.steps() == []


def chained(stack: Stack) -> dict[str, Any]:
    """The dev stack with a second spot pool before the twin: four nodes, four more, then two on-demand ones."""
    config = {**stack.config, "release": "r2026-11"}
    general, t4 = (pool for pool in config["pools"] if pool["name"] in ("general", "t4"))
    t4 |= {"maxNodes": 4, "fallback": [{"pool": "t4big"}, {"onDemand": {"maxNodes": 2}}]}
    t4big = {"name": "t4big", "machine": "Standard_NC8as_T4_v3", "capacity": "spot", "maxNodes": 4}
    return {**config, "pools": [general, t4, t4big]}


def profile_pod(name: str, restart: str, labels: dict[str, str], **resources: str) -> dict[str, Any]:
    container = {"name": "main", "image": "example.com/train:1", "resources": {"limits": resources}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "team-a", "labels": labels},
        "spec": {"restartPolicy": restart, "containers": [container]},
    }


def test_from_zero_training_pods_grow_spot_then_the_next_in_the_chain_then_the_twin_and_nothing_else_does(
    older: Stack,
) -> None:
    older.write(chained(older))
    older.run("up")
    namespace = {"name": "team-a", "labels": {"app.kubernetes.io/part-of": "kubeflow-profile"}}
    worker = {"training.kubeflow.org/replica-type": "worker"}
    made = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": namespace},
        *(profile_pod(f"train-{number}", "Never", worker, **{"nvidia.com/gpu": "1"}) for number in range(10)),
        *(profile_pod(f"step-{number}", "Never", worker, cpu="2") for number in range(4)),
        *(profile_pod(f"notebook-{number}", "Always", {"notebook-name": "nb"}, cpu="2") for number in range(2)),
    ]
    path = older.project.parent / "pods.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": made}))
    older.kubectl("create", "-f", str(path))
    assert until(lambda: "" not in landed(older).values(), 90), landed(older)
    where = landed(older)
    training = Counter(pool for pod, pool in where.items() if pod.startswith("train-"))
    assert training == {"t4": 4, "t4big": 4, "t4od": 2}
    assert {pool for pod, pool in where.items() if not pod.startswith("train-")} <= {"general", "system"}
    (log,) = older.home.rglob("autoscaler.log")
    grown = re.findall(r"pool (t4\w*): \d+ -> \d+ nodes for", log.read_text())
    assert grown == sorted(grown, key=["t4", "t4big", "t4od"].index)
    older.kubectl("delete", "namespace", "team-a", "--wait=false")


def landed(stack: Stack) -> dict[str, str]:
    """The pool of each pod of the profile, empty for one without a node."""
    pools = {node["metadata"]["name"]: node["metadata"]["labels"]["agentpool"] for node in stack.get("nodes")["items"]}
    pods = stack.get("pods", "-n", "team-a")["items"]
    return {pod["metadata"]["name"]: pools.get(pod["spec"].get("nodeName", ""), "") for pod in pods}


def test_without_scheduling_no_object_of_it_is_left(older: Stack) -> None:
    older.write({**older.config, "scheduling": {"enabled": False}})
    older.run("up")
    assert ours(older, *KINDS, "mutatingadmissionpolicies", "mutatingadmissionpolicybindings") == ALWAYS
    assert older.outputs()["scheduling"] == {"enabled": False}
    assert older.steps() == []
