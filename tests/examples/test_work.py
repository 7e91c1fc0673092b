"""What the work of the examples says beside its nodes: restarts, the GPU's driver, names, placeholders, images."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from config.model.cluster import Queueing
from config.placement.queue_objects import kueue_objects
from sandbox.kubernetes.client import Object
from tests.components.program import PROJECT
from tests.examples.contracts import described
from tests.examples.environment import EXAMPLES
from tests.examples.record import documents, recorded
from tests.examples.table import goldens

FILES = sorted(str(path.relative_to(EXAMPLES)) for path in (EXAMPLES / "jobs").glob("*.yaml"))
SENT: list[Object] = recorded()["sdk"]
EVERY = {f"{file} {d['kind']} {d['metadata']['name']}": d for file in FILES for d in documents(file)} | {
    f"sdk {wanted['metadata']['name']}": wanted for wanted in SENT
}

ON_CUDA = re.compile(r"(nvidia/cuda:.+|tensorflow/tensorflow:.+-gpu|rayproject/ray:.+-gpu)(@.+)?")
"""Images on NVIDIA's image cuda, which names the folder of GKE's driver in LD_LIBRARY_PATH."""


def inside(body: Any, key: str) -> Iterator[Any]:
    """Yield every value of a key, at any depth."""
    if isinstance(body, dict):
        if key in body:
            yield body[key]
        for value in body.values():
            yield from inside(value, key)
    elif isinstance(body, list):
        for value in body:
            yield from inside(value, key)


def test_a_placeholder_of_kfp_is_the_whole_of_a_value() -> None:
    """KFP's driver compares the whole value with each placeholder (kubeflow/pipelines, backend/src/v2/driver/resolve.go)."""
    found = {
        f"{pipeline} {task}": value
        for pipeline, tasks in recorded()["pipelines"].items()
        for task, facts in tasks.items()
        for value in facts.get("constants", {}).values()
        if "{{$." in json.dumps(value)
    }
    # The id of a run: two runs may have one name.
    assert found == {
        f"long_training:long_training {task}": "{{$.pipeline_job_uuid}}" for task in ("copy-data", "train")
    }


CONTAINERS = [
    (name, container) for name, golden in goldens().items() for container in golden.spec.get("containers", ())
]


@pytest.mark.parametrize(("name", "container"), CONTAINERS, ids=[f"{name} {c['name']}" for name, c in CONTAINERS])
def test_a_container_finds_the_driver_of_its_gpu_on_gke(name: str, container: Object) -> None:
    has_gpu = "nvidia.com/gpu" in container.get("resources", {}).get("limits", {})
    variables = {variable["name"]: variable.get("value") for variable in container.get("env", ())}
    if has_gpu and not ON_CUDA.fullmatch(container["image"]):
        assert variables.get("LD_LIBRARY_PATH") == "/usr/local/nvidia/lib64"
    else:
        # It would take the place of what the image sets.
        assert "LD_LIBRARY_PATH" not in variables
    command = [*container.get("command", ()), *container.get("args", ())]
    if "/code/train.py" in command:
        assert ("--gpu" in command) == has_gpu


REPLICATED = {
    name: spec
    for name, body in EVERY.items()
    for spec in (body.get("spec", {}), *inside(body, "trialSpec"))
    for spec in (spec.get("spec", spec),)
    if any(key.endswith("ReplicaSpecs") for key in spec)
}


def test_the_jobs_of_the_training_operator_are_all_seen() -> None:
    assert len(REPLICATED) == 6


@pytest.mark.parametrize("name", REPLICATED)
def test_a_distributed_job_outlives_a_worker_and_not_an_error_and_leaves_no_pod_behind(name: str) -> None:
    """tests/admission/test_losses.py shows with the real operator what these lines do."""
    spec = REPLICATED[name]
    (replicas,) = (value for key, value in spec.items() if key.endswith("ReplicaSpecs"))
    assert {replica["restartPolicy"] for replica in replicas.values()} == {"OnFailure"}
    assert spec["runPolicy"]["cleanPodPolicy"] == "Running"
    assert 10 <= spec["runPolicy"]["backoffLimit"] <= 50
    assert spec.get("enableDynamicWorker", False) == ("tfReplicaSpecs" in spec)


def test_a_rule_about_exit_codes_names_its_container() -> None:
    """Without a name Kubernetes looks at every container, sidecars too (kubernetes.io, page concepts/workloads/controllers/job)."""
    checked = 0
    for name, body in EVERY.items():
        for job in [spec for spec in inside(body, "spec") if "podFailurePolicy" in spec]:
            containers = {container["name"] for container in job["template"]["spec"]["containers"]}
            for rule in inside(job["podFailurePolicy"], "onExitCodes"):
                assert rule.get("containerName") in containers, name
                checked += 1
    assert checked == 2


def test_every_group_of_a_ray_cluster_has_the_field_that_the_older_kuberay_demands() -> None:
    """Kubeflow 26.03 has KubeRay 1.3.2, whose definition requires it; that of 1.4 does not."""
    clusters = [cluster for body in EVERY.values() for cluster in inside(body, "rayClusterSpec")]
    groups = [group for cluster in clusters for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"])]
    assert len(groups) == 2
    assert all("rayStartParams" in group for group in groups)


def test_the_example_of_queues_changes_nothing_of_a_stacks_own() -> None:
    pools = described("dev")
    listed = kueue_objects(pools, Queueing(enabled=True, namespaces=["team-a"]), "0.14.8")
    assert listed
    own = {(item["kind"], item["metadata"]["name"]): item for item in listed["items"]}
    example = {(body["kind"], body["metadata"]["name"]): body for body in documents("jobs/kueue.yaml")}
    assert own.keys() & example.keys() == set()
    assert set(inside(list(own.values()), "cohort")) & set(inside(list(example.values()), "cohort")) == set()
    # What one covers, the other does: work that asks for another resource is never admitted.
    covered = {frozenset(names) for names in inside([*own.values(), *example.values()], "coveredResources")}
    assert covered == {frozenset({"cpu", "memory", "ephemeral-storage", "nvidia.com/gpu"})}


PINNED = re.compile(r"([^@\s]+:[^@:/\s]+)@(sha256:[0-9a-f]{64})")
BY_TAG = {"rayproject/ray:2.52.0", "rayproject/ray:2.52.0-gpu", "example.com/team-a/train:1"}
"""Those without a digest; docs/workloads.md says why."""


def images() -> Iterator[str]:
    """Yield every image of jobs, workloads, pipelines and objects that the SDKs send."""
    for folder in ("jobs", "workloads"):
        for file in sorted((EXAMPLES / folder).iterdir()):
            yield from inside(documents(f"{folder}/{file.name}"), "image")
    yield from inside(recorded(), "image")


def test_each_image_has_a_digest_or_a_reason() -> None:
    found = set(images())
    assert {image for image in found if not PINNED.fullmatch(image)} == BY_TAG
    by_tag = dict(match.groups() for image in found if (match := PINNED.fullmatch(image)))
    # One digest a tag.
    assert {f"{tagged}@{digest}" for tagged, digest in by_tag.items()} == found - BY_TAG
    page = (PROJECT / "docs" / "workloads.md").read_text()
    assert [image for image in sorted(BY_TAG) if f"`{image}`" not in page] == []
