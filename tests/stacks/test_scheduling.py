"""Placement by default through the engine: created with Kubernetes 1.36, effective, and removed without a trace."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.tests.stack import Stack, until
from sandbox.tests.subjects import Subject

pytestmark = [pytest.mark.engine, pytest.mark.repeats]

POLICIES = "kubernetes:admissionregistration.k8s.io/v1:MutatingAdmissionPolicy"
KINDS = (
    "configmaps", "roles", "rolebindings", "resourcequotas", "validatingadmissionpolicies", "validatingadmissionpolicybindings",
)  # fmt: skip
OURS = ("--all-namespaces", "-l", "app.kubernetes.io/part-of=kubeflow-spot")
LABEL = "kubeflow-spot.dev/pool"
ALWAYS = {"cluster-autoscaler-priority-expander"}
"""Objects of the layer on AKS without those of scheduling."""


@pytest.fixture
def older(subject: Subject, tmp_path: Path) -> Iterator[Stack]:
    """Yield the stack on the release before Kubernetes 1.36, brought up."""
    stack = Stack.copy(tmp_path, subject.name)
    stack.write({**stack.config, "release": "r2026-09"})
    done = stack.run("up")
    assert "Kubernetes 1.35 has no MutatingAdmissionPolicy" in done.stdout + done.stderr
    yield stack
    stack.run("down")


def own_objects(stack: Stack, *kinds: str) -> set[str]:
    """Return the names of the stack's own objects of these kinds."""
    return {body["metadata"]["name"] for kind in kinds for body in stack.get(kind, *OURS)["items"]}


def test_placement_by_default_exists_from_1_36_on_works_and_is_removed_without_a_trace(
    older: Stack, subject: Subject
) -> None:
    next_release_adds_placement_and_replaces_nothing(older, subject)
    training_scales_up_its_chain_in_order_and_nothing_else(older, subject)
    disabled_scheduling_leaves_no_object(older, subject)


def next_release_adds_placement_and_replaces_nothing(older: Stack, subject: Subject) -> None:
    assert f"kubeflow-spot-{subject.name}-guard-profiles" in own_objects(older, *KINDS)
    shown = older.outputs()["scheduling"]
    assert shown["defaults"] == {}
    assert "scheduling.profiles" in shown["shortfall"][-1]
    older.write({**older.config, "release": "r2026-11"})
    steps = older.up()
    assert {operation for operation, _, _ in steps} == {"create", "update"}
    assert sorted(name for operation, name, _ in steps if operation == "create") == [
        f"{subject.cluster}-{name}" for name in subject.created_by_newer
    ]
    assert f"kubeflow-spot-{subject.name}-defaults" in own_objects(
        older, "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"
    )
    assert "shortfall" not in older.outputs()["scheduling"]
    assert older.steps() == []


def chained(stack: Stack, subject: Subject) -> dict[str, Any]:
    """Return the settings with a second spot pool before the on-demand twin: four nodes, four more, then two on demand."""
    config = {**stack.config, "release": "r2026-11"}
    general, spot = (pool for pool in config["pools"] if pool["name"] in ("general", subject.spot))
    spot |= {"maxNodes": 4, "fallback": [{"pool": subject.larger["name"]}, {"onDemand": {"maxNodes": 2}}]}
    # By its price the larger machine would stand behind the twin.
    order = [subject.spot, subject.larger["name"], subject.twin]
    return {**config, "pools": [general, spot, subject.larger], "growth": {"acceptedWait": "24h", "order": order}}


def profile_pod(name: str, restart: str, labels: dict[str, str], **resources: str) -> dict[str, Any]:
    container = {"name": "main", "image": "example.com/train:1", "resources": {"limits": resources}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "team-a", "labels": labels},
        "spec": {"restartPolicy": restart, "containers": [container]},
    }


def training_scales_up_its_chain_in_order_and_nothing_else(older: Stack, subject: Subject) -> None:
    older.write(chained(older, subject))
    older.run("up")
    namespace = {"name": "team-a", "labels": {"app.kubernetes.io/part-of": "kubeflow-profile"}}
    worker = {"training.kubeflow.org/replica-type": "worker"}
    pods = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": namespace},
        *(profile_pod(f"train-{number}", "Never", worker, **{"nvidia.com/gpu": "1"}) for number in range(10)),
        *(profile_pod(f"step-{number}", "Never", worker, cpu="2") for number in range(4)),
        *(profile_pod(f"notebook-{number}", "Always", {"notebook-name": "nb"}, cpu="2") for number in range(2)),
    ]
    path = older.project.parent / "pods.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    older.kubectl("create", "-f", str(path))
    assert until(lambda: "" not in landed(older).values(), 90), landed(older)
    pool_of_pod = landed(older)
    training = Counter(pool for pod, pool in pool_of_pod.items() if pod.startswith("train-"))
    chain = [subject.spot, subject.larger["name"], subject.twin]
    assert training == dict(zip(chain, (4, 4, 2), strict=True))
    assert {pool for pod, pool in pool_of_pod.items() if not pod.startswith("train-")} <= {"general", "system"}
    (log,) = older.home.rglob("autoscaler.log")
    grown = re.findall(rf"pool ({'|'.join(chain)}): \d+ -> \d+ nodes for", log.read_text())
    assert grown == sorted(grown, key=chain.index)
    older.kubectl("delete", "namespace", "team-a", "--wait=false")


def landed(stack: Stack) -> dict[str, str]:
    """Return the pool of each pod of the profile, empty for one without a node."""
    pools = {node["metadata"]["name"]: node["metadata"]["labels"][LABEL] for node in stack.get("nodes")["items"]}
    pods = stack.get("pods", "-n", "team-a")["items"]
    return {pod["metadata"]["name"]: pools.get(pod["spec"].get("nodeName", ""), "") for pod in pods}


def disabled_scheduling_leaves_no_object(older: Stack, subject: Subject) -> None:
    older.write({**older.config, "scheduling": {"enabled": False}})
    older.run("up")
    assert own_objects(older, *KINDS, "mutatingadmissionpolicies", "mutatingadmissionpolicybindings") == (
        set() if subject.class_name else ALWAYS
    )
    assert older.outputs()["scheduling"] == {"enabled": False}
    assert older.steps() == []
