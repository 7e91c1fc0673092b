"""Stacks on emulated GKE through the real engine: the tutorials' stack files, and pools in an existing cluster."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.tests.killing import stored
from sandbox.tests.pods import node_of, run_pod, unschedulable
from sandbox.tests.stack import PROJECT, Stack, until
from sandbox.tests.subjects import STAGING

STACKS = PROJECT / "examples" / "stacks"
KFP, IMAGING = STACKS / "gke-preemptible-kfp.yaml", STACKS / "aks-engine-on-gke.yaml"
pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("gke")
    for file in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(PROJECT / file, project)
    return project


def running(project: Path, name: str, file: Path, cloud: Path) -> Iterator[Stack]:
    stack = Stack(project, project / ".sandbox", name)
    try:
        stack.run("up", "--config-file", str(file), "--cloud", str(cloud))
        yield stack
    finally:
        stack.run("down", "--force")


@pytest.fixture(scope="module")
def kfp(project: Path) -> Iterator[Stack]:
    yield from running(project, "kfp", KFP, KFP.with_suffix(".cloud.yaml"))


@pytest.fixture(scope="module")
def imaging(project: Path) -> Iterator[Stack]:
    yield from running(project, "aks-engine-on-gke", IMAGING, IMAGING.with_suffix(".cloud.yaml"))


@pytest.mark.slow
def test_the_tutorials_pool_is_preemptible_with_four_gpus_its_taint_and_the_scope(kfp: Stack) -> None:
    pools = [each for each in stored(kfp, "gcp.json") if each["type"] == "gcp:container/nodePool:NodePool"]
    (pool,) = (each["body"] for each in pools if each["id"].endswith("/preemptible-gpu-pool"))
    node = pool["nodeConfig"]
    assert node["preemptible"] is True
    assert not node.get("spot")
    assert node["oauthScopes"] == ["https://www.googleapis.com/auth/cloud-platform"]
    assert [(gpu["type"], gpu["count"]) for gpu in node["guestAccelerators"]] == [("nvidia-l4", 4)]
    taints = {(taint["key"], taint["value"], taint["effect"]) for taint in node["taints"]}
    assert ("preemptible", "true", "NO_SCHEDULE") in taints
    bounds = pool["autoscaling"]
    assert (bounds["totalMinNodeCount"], bounds["totalMaxNodeCount"]) == (0, 4)
    assert kfp.steps() == []


@pytest.mark.slow
def test_a_step_with_four_gpus_scales_the_pool_up_from_zero_and_a_pod_with_only_the_tutorials_toleration_does_not(
    kfp: Stack,
) -> None:
    namespace = {"name": "team-a", "labels": {"app.kubernetes.io/part-of": "kubeflow-profile"}}
    worker = {"training.kubeflow.org/replica-type": "worker"}
    metadata = {"name": "train", "namespace": "team-a", "labels": worker}
    pods = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": namespace},
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"restartPolicy": "Never", **gpus(4)}},
    ]
    path = kfp.project / "train.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    kfp.kubectl("create", "-f", str(path))

    def node() -> str:
        return str(kfp.get("pod", "train", "-n", "team-a")["spec"].get("nodeName", ""))

    assert until(lambda: bool(node()), 90)
    labels = kfp.get("node", node())["metadata"]["labels"]
    assert labels["kubeflow-spot.dev/pool"] == "preemptible-gpu-pool"
    assert labels["cloud.google.com/gke-preemptible"] == "true"

    # The node has room for pods without GPUs: a pod that tolerates everything runs on it, one with the tutorial's toleration not.
    selector = {"kubeflow-spot.dev/pool": "preemptible-gpu-pool"}
    run_pod(kfp, "everything", tolerations=[{"operator": "Exists"}], nodeSelector=selector)
    run_pod(kfp, "tolerant", tolerations=[{"key": "preemptible", "operator": "Exists"}], nodeSelector=selector)
    assert until(lambda: node_of(kfp, "everything") == node())
    assert until(lambda: "untolerated taint" in unschedulable(kfp, "tolerant"))


@pytest.mark.slow
def test_aks_engines_design_comes_up_with_its_pools_labels_and_order(imaging: Stack) -> None:
    rules = imaging.get("computeclass", "kubeflow-spot")["spec"]["priorities"]
    assert [rule["nodepools"] for rule in rules] == [["gpuspot"], ["gpuondemand"]]
    imaging.run("scale", "gpuspot", "1")
    imaging.run("scale", "gpuondemand", "1")
    nodes = imaging.get("nodes")["items"]
    labels = {node["metadata"]["labels"]["kubeflow-spot.dev/pool"]: node["metadata"]["labels"] for node in nodes}
    assert {pool: (of.get("gpu"), of.get("general")) for pool, of in labels.items()} == {
        "system": (None, None),
        "general": (None, "true"),
        "gpuspot": ("true", None),
        "gpuondemand": ("true", None),
    }
    assert {labels[pool]["cloud.google.com/gke-accelerator"] for pool in ("gpuspot", "gpuondemand")} == {
        "nvidia-tesla-v100"
    }
    assert imaging.steps() == []


def existing_cluster(name: str) -> dict[str, Any]:
    location = {"location": "us-central1", "name": name}
    return {"provider": "gcp", "project": "example-shared", "existingCluster": location}


@pytest.fixture(scope="module")
def added(project: Path) -> Iterator[Stack]:
    """Yield a stack with a pool in the existing cluster of the cloud file."""
    folder = project / "added"
    folder.mkdir()
    config = {
        "release": "r2026-11",
        "cloud": existing_cluster("lab"),
        "pools": [{"name": "l4", "machine": "g2-standard-8", "capacity": "spot", "maxNodes": 2}],
    }
    file = folder / "stack.yaml"
    file.write_text(yaml.safe_dump({"config": {f"kubeflow-spot:{key}": value for key, value in config.items()}}))
    shutil.copy(Path(__file__).parent / "gke-cluster.cloud.yaml", folder / "cloud.yaml")
    yield from running(project, "added", file, folder / "cloud.yaml")


def test_a_pool_is_added_to_an_existing_cluster_and_nothing_else_of_it_changes(added: Stack) -> None:
    assert added.steps() == []
    outputs = added.outputs()
    assert outputs["clusterName"] == "lab"
    assert [pool["name"] for pool in outputs["pools"]] == ["l4"]
    assert outputs["fallbackOrder"].startswith("not guaranteed")
    added.run("scale", "l4", "1")
    pools = {node["metadata"]["labels"]["cloud.google.com/gke-nodepool"] for node in added.get("nodes")["items"]}
    assert pools == {"theirs", "l4"}
    run_pod(added, "tolerant", **gpus(1), tolerations=[STAGING.toleration])
    run_pod(added, "without", **gpus(1))
    assert until(lambda: "-l4-" in node_of(added, "tolerant"))
    assert until(lambda: "untolerated taint" in unschedulable(added, "without"))


def test_a_missing_cluster_is_named_with_its_location(added: Stack, tmp_path: Path) -> None:
    cloud = existing_cluster("nowhere")
    file = tmp_path / "stack.yaml"
    file.write_text(yaml.safe_dump({"config": {"kubeflow-spot:release": "r2026-11", "kubeflow-spot:cloud": cloud}}))
    other = Stack(added.project, added.home, "nowhere")
    (error,) = json.loads(
        other.run("preview", "--json", "--beside", "added", "--config-file", str(file), ok=False).stdout
    )["errors"]
    for expected in ("cloud.existingCluster", "nowhere", "us-central1", "example-shared"):
        assert expected in error
    assert "Traceback" not in error


def gpus(number: int) -> dict[str, Any]:
    container = {"name": "main", "image": "example.com/train:1", "resources": {"limits": {"nvidia.com/gpu": number}}}
    return {"containers": [container]}
