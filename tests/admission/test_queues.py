"""Queues of the real Kueue on an API server: those of the example, and those that the stack's output has."""

import copy
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from sandbox.tests.api import Object
from sandbox.tests.stack import eventually
from sandbox.tests.subjects import DEV
from tests.admission.bed import Bed
from tests.admission.operators import NAMESPACE, clear, pods, present, running, shell, strictly, unfinalized
from tests.admission.posting import decision, landing
from tests.components.program import PROJECT, declare, stack_config
from tests.examples.record import documents
from tests.examples.table import goldens

pytestmark = [
    pytest.mark.engine,
    pytest.mark.restless,
    pytest.mark.slow,
    pytest.mark.usefixtures("definitions"),
    # Kueue is the same on both clouds.
    pytest.mark.parametrize("subject", [DEV], ids=["dev"], indirect=True, scope="session"),
]

BLOCKS = re.findall(r"```sh\n(.*?)```", (PROJECT / "docs" / "kubeflow.md").read_text(), re.DOTALL)


def example_queues() -> list[Object]:
    """Return those of the example, with room for one on spot; the on-demand quota of the cohort has two."""
    flavors = [body for body in documents("jobs/kueue.yaml") if body["kind"] != "Job"]
    team = next(d for d in flavors if d["kind"] == "ClusterQueue" and d["metadata"]["name"] == "team-a")
    for resource in team["spec"]["resourceGroups"][0]["flavors"][0]["resources"]:
        if resource["name"] == "nvidia.com/gpu":
            resource["nominalQuota"] = 1
    return flavors


def output_queues() -> list[Object]:
    """Return those of the stack's output, whose spot pool has one node at most, and its twin two."""
    config = stack_config(PROJECT / "Pulumi.dev.yaml")
    spot = next(pool for pool in config["kubeflow-spot:pools"] if pool["name"] == "t4")
    spot |= {"maxNodes": 1, "fallback": [{"onDemand": {"maxNodes": 2}}]}
    config["kubeflow-spot:queueing"] = {"enabled": True, "namespaces": [NAMESPACE]}
    with pytest.MonkeyPatch.context() as patch:
        listed = declare(config, patch, stack="dev").outputs["queueing"]
    items: list[Object] = listed["items"]
    return items


def queued(queues: Callable[[], list[Object]]) -> Object:
    """Return the example's Job, in one of these queues; it asks for room on the node's disk as well."""
    job = documents("jobs/kueue.yaml")[-1]
    (local,) = (body["metadata"]["name"] for body in queues() if body["kind"] == "LocalQueue")
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": local}
    (container,) = job["spec"]["template"]["spec"]["containers"]
    container["resources"]["requests"]["ephemeral-storage"] = "1Gi"
    return job


@contextmanager
def queueing(bed: Bed, folder: Path, queues: list[Object], **nodes: int) -> Iterator[None]:
    """Run Kueue with these queues, beside so many nodes of each pool; take all of it away afterwards."""
    with bed.scaled(**nodes):
        try:
            with running(bed, folder, "kueue"):
                for body in queues:
                    strictly(bed, body)
                yield
        finally:
            _emptied(bed, queues)


@pytest.mark.parametrize("queues", [example_queues, output_queues])
def test_kueue_admits_to_spot_first_and_then_to_on_demand(
    queues: Callable[[], list[Object]], bed: Bed, tmp_path: Path
) -> None:
    job = queued(queues)
    jobs = [{**job, "metadata": {**job["metadata"], "name": f"queued-{number}"}} for number in range(4)]
    with queueing(bed, tmp_path, queues(), t4=1, t4od=2):
        admitted = []
        for number, body in enumerate(jobs):
            strictly(bed, body)
            # Before it has seen the queue, Kueue says that there is no room.
            decided = _admitted if number < 3 else _workload
            eventually(partial(decided, bed, body["metadata"]["name"]), "Kueue has decided")
            admitted.append(_admitted(bed, body["metadata"]["name"]).removeprefix("example-"))
            assert number or admitted == ["spot"]
        assert admitted == ["spot", "on-demand", "on-demand", ""]
        made, pools = pods(bed, 3, "queued"), bed.pools()
        assert sorted(landing(decision(pod), pools) for pod in made) == ["t4", "t4od", "t4od"]
        spot = next(pod for pod in made if landing(decision(pod), pools) == "t4")
        golden = next(g for g in goldens().values() if g.name.startswith("kueue"))
        assert golden.spec["nodeSelector"].items() <= spot["spec"]["nodeSelector"].items()
        keys = [toleration["key"] for toleration in spot["spec"]["tolerations"]]
        assert {t["key"] for t in golden.spec["tolerations"]} <= set(keys)
        # The policy adds no second toleration of a key.
        assert len(keys) == len(set(keys) | {k for k in keys if k.startswith("node.kubernetes.io/")})


def test_a_job_that_asks_for_on_demand_passes_over_spot_and_one_without_gpus_runs_where_it_would_without_a_queue(
    bed: Bed, tmp_path: Path
) -> None:
    job = queued(output_queues)
    asking, plain = copy.deepcopy(job), copy.deepcopy(job)
    asking["metadata"]["name"], plain["metadata"]["name"] = "queued-asking", "queued-plain"
    asking["spec"]["template"]["spec"]["nodeSelector"] = {"kubeflow-spot.dev/capacity": "on-demand"}
    del plain["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
    # Of a distributed job Kueue gives each role a flavor by itself: this is what a parameter server gets.
    with queueing(bed, tmp_path, [*output_queues(), asking, plain], t4=1, t4od=1):
        workload = eventually(partial(_workload, bed, "queued-asking"), "Kueue has decided")
        assert _flavor(workload) == "on-demand"
        made, pools = pods(bed, 2, "queued"), bed.pools()
        landed = {pod["metadata"]["labels"]["job-name"]: landing(decision(pod), pools) for pod in made}
        assert landed == {"queued-asking": "t4od", "queued-plain": "CPU node"}


def test_the_pages_lines_move_work_that_waits_for_dry_spot_to_on_demand(bed: Bed, tmp_path: Path) -> None:
    (lines,) = (block for block in BLOCKS if '"active": false' in block)
    # Spot has quota and no machine.
    with queueing(bed, tmp_path, [*output_queues(), queued(output_queues)], t4=0, t4od=1):
        assert eventually(partial(_admitted, bed, "queued"), "Kueue has admitted it") == "spot"
        (waiting,) = pods(bed, 1, "queued")
        assert decision(waiting) == "pending"
        name = (_workload(bed, "queued") or {})["metadata"]["name"]
        shell(bed, re.sub(r"(?m)^WAITING=\S+", f"WAITING={name}", lines))
        eventually(lambda: _admitted(bed, "queued") == "on-demand", "the work is admitted to on demand")
        (moved,) = eventually(lambda: [p for p in present(bed) if p["spec"].get("nodeName")], "it has a node")
        assert landing(decision(moved), bed.pools()) == "t4od"


def _workload(bed: Bed, job: str) -> Object | None:
    """Return the workload of a Job, once Kueue has admitted it or found no room."""
    for workload in bed.api.list("kueue.x-k8s.io/v1beta1", "Workload", NAMESPACE):
        owned = any(owner["name"] == job for owner in workload["metadata"].get("ownerReferences", ()))
        if owned and any(c["type"] == "QuotaReserved" for c in workload.get("status", {}).get("conditions", ())):
            return workload
    return None


def _flavor(workload: Object) -> str:
    """Return the flavor that gives the workload its GPU; empty without one."""
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
    with queueing(bed, tmp_path, queues):
        for body in jobs:
            strictly(bed, body)
            name = body["metadata"]["name"]
            eventually(partial(_admitted, bed, name), f"{name} is admitted")
        others = [_admitted(bed, name) for name in ("queued-0", "queued-1")]
        assert sorted(others) == ["", "example-on-demand"]


def _admitted(bed: Bed, job: str) -> str:
    """Return the flavor of a Job that Kueue has admitted; empty while it has not."""
    workload = _workload(bed, job)
    return _flavor(workload) if workload else ""


def _emptied(bed: Bed, queues: list[Object]) -> None:
    """Take Jobs, workloads and queues away."""
    for body in bed.api.list("kueue.x-k8s.io/v1beta1", "Workload", NAMESPACE):
        unfinalized(bed, {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", **body})
    clear(bed)
    for body in reversed(queues):
        unfinalized(bed, body)
