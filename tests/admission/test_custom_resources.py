"""The examples on an API server with the real CustomResourceDefinitions, and with the real controllers that build from Go modules.

Real: Training Operator, Kubeflow Trainer with JobSet, Kueue, and the Jobs of Kubernetes. Stand-ins (tests/examples/controllers.py):
Argo and KFP, Katib, KubeRay, Spark.
"""

import copy
from pathlib import Path
from typing import Any

import pytest
from kubeflow_spot import Contract, manifests

from sandbox.tests.api import Object, Refused
from sandbox.tests.subjects import DEV
from tests.admission import webhook
from tests.admission.bed import Bed
from tests.admission.operators import NAMESPACE, clear, pods, running, strictly, unfinalized
from tests.admission.posting import bound, decision, landing
from tests.examples.contracts import config_map
from tests.examples.environment import EXAMPLES
from tests.examples.record import documents, recorded
from tests.examples.table import goldens

pytestmark = [
    pytest.mark.engine,
    pytest.mark.restless,
    pytest.mark.slow,
    pytest.mark.usefixtures("definitions"),
    # Definitions and controllers are the same on both clouds; what differs, tests/admission/test_examples.py shows.
    pytest.mark.parametrize("subject", [DEV], ids=["dev"], indirect=True, scope="session"),
]

FILES = sorted(str(path.relative_to(EXAMPLES)) for path in (EXAMPLES / "jobs").glob("*.yaml"))
NOT_SERVED = {"Experiment"}
"""Kinds whose definition no module that is served has (tests/examples/modules.toml)."""


SENT = {wanted["metadata"]["name"]: wanted for wanted in recorded()["sdk"]}
OBJECTS = {f"{file} {d['kind']} {d['metadata']['name']}": d for file in FILES for d in documents(file)} | {
    f"sdk {name}": wanted for name, wanted in SENT.items()
}


@pytest.mark.parametrize("name", [name for name, body in OBJECTS.items() if body["kind"] not in NOT_SERVED])
def test_the_api_server_takes_an_example_with_the_real_definitions(name: str, bed: Bed) -> None:
    body = copy.deepcopy(OBJECTS[name])
    if "namespace" in body["metadata"]:
        # Of team-a other tests have objects.
        body["metadata"]["namespace"] = "team-b"
    assert strictly(bed, body, dryRun="All")["metadata"]["name"] == body["metadata"]["name"]


def test_the_api_server_takes_the_lines_of_a_train_job(bed: Bed) -> None:
    contract = Contract.from_config_map(config_map("dev"))
    job = copy.deepcopy(SENT["llm-sdk"])
    job["spec"]["podTemplateOverrides"] = manifests.train_job_overrides(contract.lines("require-spot"))
    assert strictly(bed, job, dryRun="All")["spec"]["podTemplateOverrides"] == job["spec"]["podTemplateOverrides"]


def test_a_field_that_is_misspelt_is_refused(bed: Bed) -> None:
    body = copy.deepcopy(OBJECTS["jobs/tfjob.yaml TFJob mnist"])
    body["spec"]["tfReplicaSpecs"]["Worker"]["affinity"] = {}
    with pytest.raises(Refused, match=r"unknown field \"spec.tfReplicaSpecs.Worker.affinity\""):
        strictly(bed, body, dryRun="All")


def essence(pod: Object, keys: tuple[str, ...]) -> dict[str, Any]:
    """Return what placement looks at: the project's labels, owner, restart policy, GPU, and an annotation."""
    labels = pod["metadata"].get("labels", {})
    first = next(c for c in pod["spec"]["containers"])
    return {
        "labels": {key: value for key, value in labels.items() if key.startswith(keys)},
        "owners": [(owner["kind"], owner["name"]) for owner in pod["metadata"]["ownerReferences"]],
        "restartPolicy": pod["spec"]["restartPolicy"],
        "container": first["name"],
        "gpu": str(first.get("resources", {}).get("limits", {}).get("nvidia.com/gpu")),
        "annotation": pod["metadata"].get("annotations", {}).get("sidecar.istio.io/inject"),
    }


@pytest.mark.parametrize("example", ["tfjob", "pytorchjob"])
def test_the_training_operator_makes_the_pods_of_the_stand_in_and_they_land(
    example: str, bed: Bed, tmp_path: Path
) -> None:
    (job,) = documents(f"jobs/{example}.yaml")
    wanted = {g.object["metadata"]["name"]: g for g in goldens().values() if g.name.startswith(f"{example}-")}
    for body in bound("checkpoints", NAMESPACE):
        bed.api.create_once(body)
    bed.scale(t4=1, t4od=2)
    try:
        with running(bed, tmp_path, "training"):
            strictly(bed, job)
            made = pods(bed, len(wanted), job["metadata"]["name"])
        pools = bed.pools()
        for pod in made:
            golden = wanted[pod["metadata"]["name"]]
            keys = ("training.kubeflow.org/", "kubeflow-spot.dev/")
            assert essence(pod, keys) == essence(golden.object, keys)
            # The third state has a node of each kind: here one more on demand, for the pods are there at once.
            assert landing(decision(pod), pools) == golden.expect.lands[2]
    finally:
        clear(bed, job)
        bed.scale(t4=0, t4od=0)


@pytest.mark.parametrize("example", ["jobs/trainjob.yaml", "sdk"])
def test_trainer_and_jobset_make_the_pods_of_the_stand_in_and_they_land(example: str, bed: Bed, tmp_path: Path) -> None:
    runtime, job = documents("jobs/trainjob.yaml")
    name = "trainjob-node"
    if example == "sdk":
        job, name = SENT["llm-sdk"], "trainer-sdk-llm-sdk-node"
    golden = goldens()[name]
    for body in bound("checkpoints", NAMESPACE):
        bed.api.create_once(body)
    bed.scale(t4=1, t4od=1)
    try:
        with webhook.job_set(bed.api, tmp_path) as options, running(bed, tmp_path, "trainer", *options):
            strictly(bed, runtime)
            strictly(bed, job)
            (pod,) = pods(bed, 1, golden.object["metadata"]["name"])
        assert landing(decision(pod), bed.pools()) == golden.expect.lands[2]
        stand_in = golden.object["spec"]["template"]
        (owner,) = pod["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"]) == ("Job", golden.object["metadata"]["name"])
        assert stand_in["metadata"]["labels"].items() <= pod["metadata"]["labels"].items()
        assert pod["spec"]["restartPolicy"] == stand_in["spec"]["restartPolicy"]
        (container,), (expected,) = pod["spec"]["containers"], stand_in["spec"]["containers"]
        assert (container["name"], container["command"]) == (expected["name"], expected["command"])
        assert int(container["resources"]["limits"]["nvidia.com/gpu"]) == 1
        real_job = bed.api.get({"apiVersion": "batch/v1", "kind": "Job", "metadata": golden.object["metadata"]})
        assert real_job["spec"]["podFailurePolicy"]["rules"][0]["action"] == "Ignore"
    finally:
        for kind, version in (("TrainJob", job["apiVersion"]), ("JobSet", "jobset.x-k8s.io/v1alpha2")):
            unfinalized(bed, {"apiVersion": version, "kind": kind, "metadata": job["metadata"]})
        unfinalized(bed, runtime)
        clear(bed)
        bed.scale(t4=0, t4od=0)
