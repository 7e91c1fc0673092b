"""The examples on an API server with the real CustomResourceDefinitions, and with the real controllers that build from Go modules.

Real: Training Operator, Kubeflow Trainer with JobSet, Kueue, and the Jobs of Kubernetes. Stand-ins (tests/examples/controllers.py):
Argo and KFP, Katib, KubeRay, Spark.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kubeflow_spot import Contract, manifests

from tests.admission.api import Object, Refused
from tests.admission.bed import Bed, eventually
from tests.admission.operators import (
    NAMESPACE,
    clear,
    create_once,
    job_set_webhook,
    pods,
    running,
    strictly,
    unfinalized,
)
from tests.admission.posting import bound, decision, landing
from tests.components.program import PROJECT, declare, stack_config
from tests.examples import crds
from tests.examples.contracts import config_map
from tests.examples.environment import EXAMPLES
from tests.examples.record import documents, recorded
from tests.examples.table import goldens
from tests.subjects import DEV

pytestmark = [
    pytest.mark.engine,
    pytest.mark.slow,
    # Definitions and controllers are the same on both clouds; what differs, tests/admission/test_examples.py shows.
    pytest.mark.parametrize("subject", [DEV], ids=["dev"], indirect=True, scope="session"),
]

FILES = sorted(str(path.relative_to(EXAMPLES)) for path in (EXAMPLES / "jobs").glob("*.yaml"))
NOT_SERVED = {"Experiment"}
"""Kinds whose definition no module that is served has (tests/examples/modules.toml)."""


@pytest.fixture(scope="module", autouse=True)
def definitions(bed: Bed) -> Iterator[None]:
    crds.install(bed.api)
    yield
    for definition in crds.definitions():
        bed.api.delete(definition)


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
    """What placement looks at: labels of the project, owner, restart policy, GPU, and what was written about nodes."""
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
        create_once(bed, body)
    bed.scale(t4=1, t4od=2)
    try:
        with running(bed, tmp_path, "training"):
            strictly(bed, job)
            made = eventually(
                lambda: (
                    (found := pods(bed, lambda p: p["metadata"]["name"] in wanted))
                    and len(found) == len(wanted)
                    and found
                ),
                f"the operator has made {sorted(wanted)}",
            )
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
        create_once(bed, body)
    bed.scale(t4=1, t4od=1)
    try:
        with job_set_webhook(bed, tmp_path) as options, running(bed, tmp_path, "trainer", *options):
            strictly(bed, runtime)
            strictly(bed, job)
            (pod,) = eventually(
                lambda: pods(bed, lambda p: golden.object["metadata"]["name"] in p["metadata"]["name"]),
                "Trainer has made a pod",
            )
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


def example_queues() -> list[Object]:
    """Those of the example, with room for one on spot; the on-demand quota of the cohort has two."""
    flavors = [body for body in documents("jobs/kueue.yaml") if body["kind"] != "Job"]
    team = next(d for d in flavors if d["kind"] == "ClusterQueue" and d["metadata"]["name"] == "team-a")
    for resource in team["spec"]["resourceGroups"][0]["flavors"][0]["resources"]:
        if resource["name"] == "nvidia.com/gpu":
            resource["nominalQuota"] = 1
    return flavors


def output_queues() -> list[Object]:
    """Those of the stack's output, whose spot pool has one node at most, and its twin two."""
    config = stack_config(PROJECT / "Pulumi.dev.yaml")
    spot = next(pool for pool in config["kubeflow-spot:pools"] if pool["name"] == "t4")
    spot |= {"maxNodes": 1, "fallback": [{"onDemand": {"maxNodes": 2}}]}
    config["kubeflow-spot:queueing"] = {"enabled": True, "namespaces": [NAMESPACE]}
    with pytest.MonkeyPatch.context() as patch:
        listed = declare(config, patch, stack="dev").outputs["queueing"]
    items: list[Object] = listed["items"]
    return items


@pytest.mark.parametrize("queues", [example_queues, output_queues])
def test_kueue_admits_to_spot_first_and_then_to_on_demand(
    queues: Callable[[], list[Object]], bed: Bed, tmp_path: Path
) -> None:
    flavors, job = queues(), documents("jobs/kueue.yaml")[-1]
    jobs = [{**job, "metadata": {**job["metadata"], "name": f"queued-{number}"}} for number in range(4)]
    bed.scale(t4=1, t4od=2)
    try:
        with running(bed, tmp_path, "kueue"):
            for body in flavors:
                strictly(bed, body)
            admitted = []
            for number, body in enumerate(jobs):
                strictly(bed, body)
                workload = eventually(partial(_workload, bed, body["metadata"]["name"]), "Kueue has decided")
                admitted.append(_flavor(workload))
                assert number or admitted == ["spot"]
            assert admitted == ["spot", "on-demand", "on-demand", ""]
            made = eventually(
                lambda: (found := pods(bed, lambda p: "queued" in p["metadata"]["name"])) and len(found) == 3 and found,
                "the admitted Jobs have pods",
            )
        pools = bed.pools()
        assert sorted(landing(decision(pod), pools) for pod in made) == ["t4", "t4od", "t4od"]
        spot = next(pod for pod in made if landing(decision(pod), pools) == "t4")
        golden = next(g for g in goldens().values() if g.name.startswith("kueue"))
        assert golden.spec["nodeSelector"].items() <= spot["spec"]["nodeSelector"].items()
        keys = [toleration["key"] for toleration in spot["spec"]["tolerations"]]
        assert {t["key"] for t in golden.spec["tolerations"]} <= set(keys)
        # The policy adds no second toleration of a key.
        assert len(keys) == len(set(keys) | {k for k in keys if k.startswith("node.kubernetes.io/")})
    finally:
        for body in bed.api.list("kueue.x-k8s.io/v1beta1", "Workload", NAMESPACE):
            unfinalized(bed, {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", **body})
        clear(bed)
        for body in reversed(flavors):
            unfinalized(bed, body)
        bed.scale(t4=0, t4od=0)


def test_a_job_that_asks_for_on_demand_passes_over_spot_and_one_without_gpus_gets_no_toleration_of_theirs(
    bed: Bed, tmp_path: Path
) -> None:
    flavors, job = output_queues(), documents("jobs/kueue.yaml")[-1]
    asking, plain = copy.deepcopy(job), copy.deepcopy(job)
    asking["metadata"]["name"], plain["metadata"]["name"] = "queued-asking", "queued-plain"
    asking["spec"]["template"]["spec"]["nodeSelector"] = {"kubeflow-spot.dev/capacity": "on-demand"}
    del plain["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
    bed.scale(t4=1, t4od=1)
    try:
        with running(bed, tmp_path, "kueue"):
            for body in (*flavors, asking, plain):
                strictly(bed, body)
            workload = eventually(partial(_workload, bed, "queued-asking"), "Kueue has decided")
            assert _flavor(workload) == "on-demand"
            made = eventually(
                lambda: (found := pods(bed, lambda p: "queued" in p["metadata"]["name"])) and len(found) == 2 and found,
                "the admitted Jobs have pods",
            )
        pools = bed.pools()
        landed = {pod["metadata"]["labels"]["job-name"]: landing(decision(pod), pools) for pod in made}
        assert landed == {"queued-asking": "t4od", "queued-plain": "pending"}
    finally:
        for body in bed.api.list("kueue.x-k8s.io/v1beta1", "Workload", NAMESPACE):
            unfinalized(bed, {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", **body})
        clear(bed)
        for body in reversed(flavors):
            unfinalized(bed, body)
        bed.scale(t4=0, t4od=0)


def _workload(bed: Bed, job: str) -> Object | None:
    """The workload of a Job, once Kueue has admitted it or found no room."""
    for workload in bed.api.list("kueue.x-k8s.io/v1beta1", "Workload", NAMESPACE):
        owned = any(owner["name"] == job for owner in workload["metadata"].get("ownerReferences", ()))
        if owned and any(c["type"] == "QuotaReserved" for c in workload.get("status", {}).get("conditions", ())):
            return workload
    return None


def _flavor(workload: Object) -> str:
    """The flavor that gives the workload its GPU; empty without one."""
    assignments = workload["status"].get("admission", {}).get("podSetAssignments", ())
    return next((str(assignment["flavors"]["nvidia.com/gpu"]) for assignment in assignments), "")


def test_kueue_gives_the_on_demand_quota_back_to_the_queue_that_owns_it(bed: Bed, tmp_path: Path) -> None:
    *queues, job = documents("jobs/kueue.yaml")
    owner = next(d for d in queues if d["kind"] == "ClusterQueue" and d["metadata"]["name"] == "shared")
    team = next(d for d in queues if d["kind"] == "ClusterQueue" and d["metadata"]["name"] == "team-a")
    # The bed has no namespace of the owner's.
    owner["spec"]["namespaceSelector"] = team["spec"]["namespaceSelector"]
    local = next(d for d in queues if d["kind"] == "LocalQueue")
    queues.append({**local, "metadata": {**local["metadata"], "name": "owners"}, "spec": {"clusterQueue": "shared"}})
    for resource in team["spec"]["resourceGroups"][0]["flavors"][0]["resources"]:
        resource["nominalQuota"] = 0
    labels = {"kueue.x-k8s.io/queue-name": "owners"}
    jobs = [{**job, "metadata": {**job["metadata"], "name": f"queued-{number}"}} for number in range(2)]
    jobs.append({**job, "metadata": {**job["metadata"], "name": "queued-owner", "labels": labels}})
    try:
        with running(bed, tmp_path, "kueue"):
            for body in (*queues, *jobs):
                strictly(bed, body)
                if body["kind"] == "Job":
                    eventually(
                        partial(_admitted, bed, body["metadata"]["name"]), f"{body['metadata']['name']} is admitted"
                    )
            others = [_admitted(bed, name) for name in ("queued-0", "queued-1")]
            assert sorted(others) == ["", "on-demand"]
    finally:
        for body in bed.api.list("kueue.x-k8s.io/v1beta1", "Workload", NAMESPACE):
            unfinalized(bed, {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", **body})
        clear(bed)
        for body in reversed(queues):
            unfinalized(bed, body)


def _admitted(bed: Bed, job: str) -> str:
    """The flavor of a Job that Kueue has admitted; empty while it has not."""
    workload = _workload(bed, job)
    return _flavor(workload) if workload else ""
