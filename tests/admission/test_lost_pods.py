"""Jobs whose own settings end them with the first lost pod: the mark on their pods, the warning, and what Kubernetes makes of it.

The real controller of Jobs is the judge: a pod is lost as an eviction loses it, and the Job has failed, or has another pod.
Distributed training that ends so and never fits on demand is refused, not split. Other kinds by their real controllers:
tests/admission/test_losses.py.
"""

from collections.abc import Iterator

import pytest

from sandbox.tests.api import Object
from sandbox.tests.stack import eventually
from sandbox.tests.subjects import DEV
from tests.admission.bed import Bed
from tests.admission.escapes import pod, verdict, with_container
from tests.admission.operators import GONE, clear, conditions, phase

pytestmark = [
    pytest.mark.engine,
    # Neither the marks nor the controller differ between clouds.
    pytest.mark.parametrize("subject", [DEV], ids=["dev"], indirect=True, scope="session"),
]

MARK = "kubeflow-spot.dev/if-lost"
DISRUPTED = {"onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}


def exits(operator: str, *codes: int) -> Object:
    return {"onExitCodes": {"operator": operator, "values": list(codes)}}


def rules(*listed: tuple[str, Object]) -> Object:
    return {"podFailurePolicy": {"rules": [{"action": action, **on} for action, on in listed]}}


SETTINGS: dict[str, tuple[Object, bool]] = {
    "nothing": ({}, False),
    "backoffLimit 1": ({"backoffLimit": 1}, False),
    "backoffLimit 0": ({"backoffLimit": 0}, True),
    "backoffLimit 0, and a failure policy about another code": (
        {"backoffLimit": 0, **rules(("FailJob", exits("In", 42)))},
        True,
    ),
    "backoffLimit 0, and disruptions ignored": ({"backoffLimit": 0, **rules(("Ignore", DISRUPTED))}, False),
    "another code fails the Job first, disruptions ignored": (
        {"backoffLimit": 0, **rules(("FailJob", exits("In", 42)), ("Ignore", DISRUPTED))},
        False,
    ),
    "the code of SIGTERM fails the Job before disruptions are ignored": (
        rules(("FailJob", exits("In", 143)), ("Ignore", DISRUPTED)),
        True,
    ),
    "all codes but one fail the Job before disruptions are ignored": (
        rules(("FailJob", exits("NotIn", 3)), ("Ignore", DISRUPTED)),
        True,
    ),
    "disruptions fail the Job": (rules(("FailJob", DISRUPTED)), True),
    "disruptions count": ({"backoffLimit": 2, **rules(("Count", DISRUPTED))}, False),
    "backoffLimitPerIndex 0": ({"completionMode": "Indexed", "backoffLimitPerIndex": 0}, True),
    "backoffLimitPerIndex 1": ({"completionMode": "Indexed", "backoffLimitPerIndex": 1}, False),
    "backoffLimitPerIndex 0, and disruptions ignored": (
        {"completionMode": "Indexed", "backoffLimitPerIndex": 0, **rules(("Ignore", DISRUPTED))},
        False,
    ),
    "disruptions fail their index": (
        {"completionMode": "Indexed", "backoffLimitPerIndex": 5, **rules(("FailIndex", DISRUPTED))},
        True,
    ),
}
"""Settings of a Job, and whether one lost pod ends it."""

EVERY = pytest.mark.parametrize(("settings", "ends"), SETTINGS.values(), ids=SETTINGS)


def job(settings: Object, name: str = "fit", labels: dict[str, str] | None = None, gpus: str = "1") -> Object:
    container = {"name": "main", "image": "example.com/train:1", "resources": {"limits": {"nvidia.com/gpu": gpus}}}
    # Nobody binds its pods: the test plays the kubelet.
    spec = {"restartPolicy": "Never", "schedulerName": "nobody", "containers": [container]}
    template: Object = {"spec": spec}
    if labels is not None:
        template["metadata"] = {"labels": labels}
    metadata = {"name": name, "namespace": "team-a"}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {**settings, "template": template}}


def mark(admitted: Object) -> str:
    labels: dict[str, str] = admitted["spec"]["template"]["metadata"]["labels"]
    return labels.get(MARK, "")


@pytest.fixture(scope="module")
def outcomes(bed: Bed) -> Iterator[dict[str, tuple[str, bool]]]:
    """Yield the mark of each Job, and whether the controller ends it when its pod is lost.

    All Jobs at once: the controller waits for ten seconds before it makes another pod.
    """
    wanted = {name: job(settings, f"fit-{number}") for number, (name, (settings, _)) in enumerate(SETTINGS.items())}
    created = {name: bed.api.create(body) for name, body in wanted.items()}
    try:
        lost = {name: eventually(lambda body=body: _pods(bed, body), "a pod")[0] for name, body in wanted.items()}
        for body in lost.values():
            # As the kubelet and pod garbage collection leave a pod of a machine that is gone.
            phase(bed, body, "Failed", code=143, conditions=GONE)
            bed.api.delete(body)
        yield {
            name: (
                mark(created[name]),
                eventually(lambda body=body, name=name: _outcome(bed, body, lost[name]), f"an outcome of {name}")[0],
            )
            for name, body in wanted.items()
        }
    finally:
        clear(bed)


def _pods(bed: Bed, job: Object) -> list[Object]:
    found = bed.api.list("v1", "Pod", "team-a")
    made = [pod for pod in found if pod["metadata"]["labels"].get("job-name") == job["metadata"]["name"]]
    return [{"apiVersion": "v1", "kind": "Pod", **pod} for pod in made]


def _outcome(bed: Bed, job: Object, lost: Object) -> tuple[bool] | None:
    """Return whether the Job has failed; None before it has failed or has another pod."""
    failed = bool(conditions(bed, job) & {"FailureTarget", "Failed"})
    again = any(pod["metadata"]["uid"] != lost["metadata"]["uid"] for pod in _pods(bed, job))
    return (failed,) if failed or again else None


@pytest.mark.parametrize("name", SETTINGS)
def test_the_mark_is_what_the_controller_makes_of_a_lost_pod(name: str, outcomes: dict[str, tuple[str, bool]]) -> None:
    _, ends = SETTINGS[name]
    assert outcomes[name] == ("ends-job" if ends else "", ends)


@EVERY
def test_a_job_that_would_end_is_warned_of_at_the_job(settings: Object, ends: bool, bed: Bed) -> None:
    warnings = "".join(bed.api.warnings(job(settings)))
    assert ("Job fit ends for good when it loses a pod" in warnings) == ends
    assert ("a podFailurePolicy that ignores DisruptionTarget" in warnings) == ends


ONCE: Object = {"backoffLimit": 0}


@pytest.mark.parametrize(
    ("body", "marked", "warned"),
    [
        (job(ONCE, labels={}), "ends-job", True),
        (job(ONCE, labels={"app": "fit"}), "ends-job", True),
        (job(ONCE, labels={MARK: "restarted"}), "restarted", True),
        (job(ONCE, labels={"kubeflow-spot.dev/placement": "on-demand"}), "ends-job", False),
        (job(ONCE, labels={"kubeflow-spot.dev/placement": "prefer-spot"}), "ends-job", True),
        (job(ONCE, gpus="0"), "ends-job", False),
    ],
)
def test_a_mark_that_is_there_stays_and_only_work_with_gpus_off_on_demand_is_warned_of(
    body: Object, marked: str, warned: bool, bed: Bed
) -> None:
    assert mark(bed.api.create(body, dry_run=True)) == marked
    assert bool(bed.api.warnings(body)) == warned


@pytest.mark.parametrize("owner", ["JobSet", "MPIJob", "RayJob"])
def test_a_job_of_another_job_is_not_judged_by_itself(owner: str, bed: Bed) -> None:
    body = job(ONCE)
    reference = {"apiVersion": "example.com/v1", "kind": owner, "name": "fit", "uid": "1", "controller": True}
    body["metadata"]["ownerReferences"] = [reference]
    assert mark(bed.api.create(body, dry_run=True)) == ""
    assert bed.api.warnings(body) == []


def with_gpu(labels: dict[str, str]) -> Object:
    return with_container(pod("p", restart="Never", labels=labels), resources={"limits": {"nvidia.com/gpu": "1"}})


def prefers(bed: Bed, body: Object) -> bool:
    return "affinity" in bed.api.create(body, dry_run=True)["spec"]


MASTER = {"training.kubeflow.org/job-role": "master", "training.kubeflow.org/replica-type": "worker"}


@pytest.mark.parametrize(
    ("labels", "moves"),
    [
        (MASTER, False),
        (MASTER | {MARK: "restarted"}, True),
        (MASTER | {MARK: "ends-job"}, False),
        ({"training.kubeflow.org/replica-type": "worker"}, True),
        ({"training.kubeflow.org/replica-type": "worker", MARK: "ends-job"}, False),
        ({"jobset.sigs.k8s.io/replicatedjob-name": "workers"}, True),
        ({"jobset.sigs.k8s.io/replicatedjob-name": "head"}, False),
        ({"jobset.sigs.k8s.io/replicatedjob-name": "dataset-initializer"}, False),
        ({"volcano.sh/task-spec": "mpiworker"}, True),
        ({"volcano.sh/task-spec": "mpimaster"}, False),
        ({"spark-role": "executor"}, True),
        ({"spark-role": "driver"}, False),
        ({"ray.io/node-type": "worker"}, True),
        ({"ray.io/node-type": "worker", "ray.io/serve": "true"}, False),
        ({"ray.io/node-type": "head"}, False),
        ({}, False),
        ({MARK: "restarted"}, False),
    ],
)
def test_a_pod_of_a_gpu_prefers_spot_where_somebody_starts_it_again(
    labels: dict[str, str], moves: bool, bed: Bed
) -> None:
    assert prefers(bed, with_gpu(labels)) == moves


REQUIRED = {"kubeflow-spot.dev/placement": "require-spot"}


def test_a_pod_that_requires_what_the_stack_has_not_is_refused(bed: Bed) -> None:
    """The stack has spot machines with GPUs alone; such a pod would wait for ever."""
    without = with_gpu(REQUIRED)
    del without["spec"]["containers"][0]["resources"]
    assert verdict(bed, without) == "no-pool"
    assert verdict(bed, with_gpu(REQUIRED)) == ""


def test_a_namespace_that_requires_spot_does_not_keep_its_other_pods_waiting(bed: Bed) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}
    bed.api.patch(namespace, {"metadata": {"labels": REQUIRED}})
    try:
        step = with_gpu({"training.kubeflow.org/replica-type": "worker"})
        eventually(lambda: prefers(bed, step), "the namespace's label is heeded")
        del step["spec"]["containers"][0]["resources"]
        assert not prefers(bed, step)
    finally:
        bed.api.patch(namespace, {"metadata": {"labels": dict.fromkeys(REQUIRED)}})
