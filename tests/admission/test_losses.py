"""Distributed training that loses a pod, by the real controllers: Training Operator, and Trainer with JobSet and Kubernetes' Jobs.

No kubelet runs here: the test writes what a kubelet says of containers that start, restart and end.
"""

import copy
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from sandbox.tests.api import Object
from sandbox.tests.stack import eventually
from sandbox.tests.subjects import DEV
from tests.admission import webhook
from tests.admission.bed import Bed
from tests.admission.operators import (
    GONE,
    NAMESPACE,
    clear,
    conditions,
    phase,
    present,
    running,
    strictly,
    unfinalized,
)
from tests.admission.posting import bound, named
from tests.examples.record import documents, recorded
from tests.overlay import tree

pytestmark = [
    pytest.mark.engine,
    pytest.mark.restless,
    pytest.mark.slow,
    pytest.mark.usefixtures("definitions"),
    # The controllers are the same on both clouds.
    pytest.mark.parametrize("subject", [DEV], ids=["dev"], indirect=True, scope="session"),
]


def pods(bed: Bed) -> dict[str, Object]:
    """Return the pods of the profile that are not on their way out, by name."""
    return {pod["metadata"]["name"]: pod for pod in present(bed)}


def example(name: str) -> Object:
    if name.startswith("sdk "):
        return copy.deepcopy(next(sent for sent in recorded()["sdk"] if sent["metadata"]["name"] == name[4:]))
    (job,) = documents(f"jobs/{name}.yaml")
    return job


@pytest.fixture
def started(bed: Bed, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Object, str]]:
    """Yield a running job of the operator, all of whose pods run, and the role that decides about its end."""
    job = example(request.param)
    for body in bound("checkpoints", NAMESPACE):
        bed.api.create_once(body)
    (replicas,) = (value for key, value in job["spec"].items() if key.endswith("ReplicaSpecs"))
    try:
        with running(bed, tmp_path, "training"):
            strictly(bed, job)
            eventually(lambda: len(present(bed)) == len(replicas), "the operator has made the pods")
            for pod in present(bed):
                phase(bed, pod, "Running")
            eventually(lambda: "Running" in conditions(bed, job), "the job runs")
            yield job, "chief" if "Chief" in replicas else "master"
    finally:
        clear(bed, job)


EVERY = pytest.mark.parametrize("started", ["tfjob", "pytorchjob", "sdk mnist-sdk", "sdk fit-sdk"], indirect=True)


@EVERY
def test_a_worker_that_is_drained_three_times_is_made_again_and_the_rest_is_deleted_at_the_end(
    started: tuple[Object, str], bed: Bed
) -> None:
    job, head = started
    worker = f"{job['metadata']['name']}-worker-0"
    for _ in range(3):
        target = named("v1", "Pod", worker, NAMESPACE)
        lost = bed.api.get(target)["metadata"]["uid"]
        # It has a deletion timestamp and still runs, as for its grace period.
        bed.api.patch(target, {"metadata": {"finalizers": ["example.com/grace"]}})
        bed.api.delete(target)
        eventually(lambda: bed.api.get(job)["status"]["replicaStatuses"]["Worker"].get("failed"), "the operator saw it")
        bed.api.patch(target, {"metadata": {"finalizers": None}})
        eventually(
            lambda lost=lost: (found := pods(bed).get(worker)) and found["metadata"]["uid"] != lost, "a new worker"
        )
        assert "Failed" not in conditions(bed, job)
        phase(bed, pods(bed)[worker], "Running")
        eventually(lambda: "Running" in conditions(bed, job), "the job runs again")
    phase(bed, pods(bed)[f"{job['metadata']['name']}-{head}-0"], "Succeeded")
    eventually(lambda: "Succeeded" in conditions(bed, job), "the job has succeeded")
    # A worker that went on would keep its GPU.
    eventually(lambda: worker not in pods(bed), "the worker is deleted")


@EVERY
def test_a_program_that_fails_again_and_again_fails_the_job_and_leaves_no_pod(
    started: tuple[Object, str], bed: Bed
) -> None:
    """Whatever its exit code: the kubelet restarts the container in place, also when it used too much memory (137)."""
    job, _ = started
    worker, limit = f"{job['metadata']['name']}-worker-0", job["spec"]["runPolicy"]["backoffLimit"]
    assert {pod["spec"]["restartPolicy"] for pod in present(bed)} == {"OnFailure"}
    phase(bed, pods(bed)[worker], "Running", restarts=limit - 1)
    bed.api.patch(job, {"metadata": {"annotations": {"look": "again"}}})
    assert "Failed" not in conditions(bed, job)
    phase(bed, pods(bed)[worker], "Running", restarts=limit)
    eventually(lambda: "Failed" in conditions(bed, job), "the job has failed")
    eventually(lambda: not present(bed), "its pods are deleted")


def distributed(folder: Path) -> Object:
    """Return the runtime torch-distributed with the component `training-runtimes`, and what the small tree leaves out."""
    rendered = tree.built(folder).objects
    (runtime,) = (body for body in rendered if body["metadata"]["name"] == "torch-distributed")
    runtime["metadata"]["labels"] = {"trainer.kubeflow.org/framework": "torch"}
    runtime["spec"]["mlPolicy"] = {"numNodes": 1, "torch": {"numProcPerNode": "auto"}}
    (node,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    node["template"]["metadata"] = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    return runtime


def test_a_set_on_two_nodes_starts_again_as_often_as_it_loses_one(bed: Bed, tmp_path: Path) -> None:
    runtime, (_, job) = distributed(tmp_path / "rendered"), documents("jobs/trainjob.yaml")
    job["metadata"]["name"] = "several"
    job["spec"]["runtimeRef"] = {"name": runtime["metadata"]["name"]}
    job["spec"]["trainer"] |= {"numNodes": 2, "image": "example.com/trainer:1"}
    job_set = named("jobset.x-k8s.io/v1alpha2", "JobSet", "several", NAMESPACE)

    def both(number: int) -> list[Object]:
        mark = ("jobset.sigs.k8s.io/restart-attempt", str(number))
        found = [pod for pod in present(bed) if mark in pod["metadata"]["labels"].items()]
        return found if len(found) == 2 else []

    def status() -> Object:
        return bed.api.get(job_set).get("status", {})

    try:
        with webhook.job_set(bed.api, tmp_path) as options, running(bed, tmp_path, "trainer", *options):
            strictly(bed, runtime)
            strictly(bed, job)
            for number in range(5):
                peer, lost = eventually(partial(both, number), f"two pods of attempt {number}")
                # The peer may end first, when it no longer hears the other one.
                phase(bed, peer, "Failed", code=1)
                phase(bed, lost, "Failed", code=143, conditions=GONE)
                eventually(lambda number=number: status().get("restarts") == number + 1, f"restart {number + 1}")
            assert status().get("restartsCountTowardsMax", 0) == 0
            assert "Failed" not in conditions(bed, job_set)
    finally:
        for version, kind in ((job["apiVersion"], "TrainJob"), ("jobset.x-k8s.io/v1alpha2", "JobSet")):
            unfinalized(bed, named(version, kind, "several", NAMESPACE))
        unfinalized(bed, runtime)
        clear(bed)
