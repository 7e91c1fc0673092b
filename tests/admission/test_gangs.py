"""Jobs of pods that need one another, and never fit on demand together."""

from collections.abc import Iterator

import pytest

from sandbox.tests.api import Object
from tests.admission import test_lost_pods as lost_pods
from tests.admission.bed import Bed
from tests.admission.escapes import verdict
from tests.admission.served import serving
from tests.admission.test_lost_pods import ONCE, job

pytestmark = [*lost_pods.pytestmark, pytest.mark.restless]


def _gang(pods: int, *, gpus: str = "1", labels: dict[str, str] | None = None) -> Object:
    template = {"metadata": {"labels": labels or {}}, "spec": job({}, gpus=gpus)["spec"]["template"]["spec"]}
    workers = {"name": "workers", "template": {"spec": {"parallelism": pods, "backoffLimit": 0, "template": template}}}
    metadata = {"name": "gang", "namespace": "team-a"}
    spec = {"replicatedJobs": [workers]}
    return {"apiVersion": "jobset.x-k8s.io/v1", "kind": "JobSet", "metadata": metadata, "spec": spec}


def _replicas(pods: int, policy: str = "Never") -> Object:
    template = {"spec": job({})["spec"]["template"]["spec"]}
    replicas = {
        "Master": {"restartPolicy": policy, "template": template},
        "Worker": {"replicas": pods - 1, "restartPolicy": policy, "template": template},
    }
    metadata = {"name": "gang", "namespace": "team-a"}
    spec = {"pytorchReplicaSpecs": replicas}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": metadata, "spec": spec}


SUSPENDED = _gang(3)
SUSPENDED["spec"]["suspend"] = True
RESTARTED = _gang(3)
RESTARTED["spec"]["failurePolicy"] = {"maxRestarts": 3}


@pytest.fixture(scope="module")
def gangs(bed: Bed) -> Iterator[Bed]:
    with serving(bed, "JobSet.jobset.x-k8s.io", "PyTorchJob.kubeflow.org"):
        yield bed


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        (_gang(2), False),
        (_gang(3), True),
        (_gang(1, gpus="3"), True),
        (_gang(30, gpus="0"), False),
        (_gang(3, labels={"kubeflow-spot.dev/placement": "prefer-spot"}), False),
        (_gang(3, labels={"kubeflow-spot.dev/placement": "on-demand"}), True),
        (SUSPENDED, False),
        (RESTARTED, False),
        (_replicas(2), False),
        (_replicas(3), True),
        (_replicas(3, "OnFailure"), False),
        (job(ONCE | {"parallelism": 3, "completions": 3}), False),
    ],
)
def test_a_job_of_pods_that_need_one_another_and_never_fit_on_demand_is_refused(
    body: Object, refused: bool, gangs: Bed
) -> None:
    """The twin has two nodes of one GPU. A Job's pods do their work one after the other, too."""
    assert (verdict(gangs, body) == "no-room") == refused
