"""A whole drill with an API server, a cloud and an autoscaler that answer by rote: what it sends and records."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from drill.play.clock import Clock
from drill.play.drill import Cluster, Drill
from drill.play.source import Captured
from drill.world.basis import Basis, Trial
from drill.world.scenario import Scenario
from drill.world.workloads import CHECKPOINT, RUN_FOR, WORK
from sandbox.autoscaler.world import World
from sandbox.cloud.node_groups import Gpus
from sandbox.kubernetes.client import ApiError, Object, Unreachable
from tests.drill import records
from tests.drill.machine_bed import AZURE, Cloud

BUDGETS = "/apis/policy/v1/poddisruptionbudgets"


class Client:
    """Takes down what is created. `refuse` raises for what is refused."""

    def __init__(self, refuse: Callable[[Object], None]) -> None:
        self._refuse = refuse
        self.created: list[Object] = []

    def create(self, body: Object) -> Object:
        self._refuse(body)
        if body["kind"] != "Node":
            self.created.append(body)
        return body

    def apply(self, body: Object, manager: str, *, force: bool) -> None:
        pass

    def get(self, version: str, kind: str, name: str, namespace: str = "") -> None:
        return None

    def patch(self, *parts: Any) -> Object:
        return {}


class Api:
    """Lists of nothing, and events by path."""

    def __init__(self) -> None:
        self.events: dict[str, list[Object]] = {}

    def get(self, path: str) -> Object:
        return {"items": [], "metadata": {"resourceVersion": "1"}}

    def watch(self, path: str, version: str) -> Iterator[Object]:
        yield from self.events.pop(path, ())
        time.sleep(0.01)


class Scaler:
    """Scans at the begin and when something has changed, and keeps the worlds it saw."""

    def __init__(self) -> None:
        self.worlds: list[World] = []

    def scan(self, now: float, world: World, hands: Any) -> float:
        self.worlds.append(world)
        return now + 10

    def wakes(self) -> float:
        return math.inf


class Bed:
    """A drill of some work, on one spot and one on-demand pool."""

    def __init__(
        self,
        *work: Object,
        refuse: Callable[[Object], None] = lambda body: None,
        gpus: Gpus | None = None,
        twin: int = 6,
        basis: Basis | None = None,
    ) -> None:
        captured = Captured()
        cloud = Cloud(captured)
        if gpus:
            cloud.groups["t4"] = replace(cloud.groups["t4"], gpus=gpus)
        cloud.groups["t4od"] = replace(cloud.groups["t4od"], most=twin)
        self.scaler, self.client, self.api = Scaler(), Client(refuse), Api()
        base = {"role": "training", "runFor": "10m"}
        whole = [{"name": f"work{number}", **base, **each} for number, each in enumerate(work)]
        scenario = Scenario.model_validate({"description": "", "length": "1h", "work": whole})
        cluster = Cluster("c", cloud, captured, AZURE, self.client, self.api, nullcontext)  # type: ignore[arg-type]
        self.drill = Drill(Trial(scenario, "test", 1, basis=basis), Clock(), cluster, lambda: self.scaler)

    def run(self) -> Drill:
        # No controller makes pods here: nothing is awaited.
        self.drill.settling.settle = self.drill.observed.flush  # type: ignore[method-assign]
        self.drill.machines.join = lambda node: None
        self.drill.run()
        return self.drill


def refusing(name: str, error: Exception) -> Callable[[Object], None]:
    def refuse(body: Object) -> None:
        if body["metadata"]["name"] == name:
            raise error

    return refuse


def test_work_that_the_api_server_refuses_fails_with_its_words_and_the_drill_goes_on() -> None:
    words = "admission policy denies: teams must name their budget"
    drill = Bed({"pods": 2}, {}, refuse=refusing("work0-0", ApiError(422, words))).run()
    assert {each.name: each.failed for each in drill.kubelets.work.values()} == {
        "team-a/work0-0/0": f"refused: {words}",
        "team-a/work0-0/1": f"refused: {words}",
        "team-a/work1-0/0": "",
    }
    assert [(each.kind, each.text) for each in drill.events] == [("note", f"Job team-a/work0-0 is refused: {words}")]
    assert set(drill.settling.expected) == {"team-a/work1-0"}, "no pod of the refused work is awaited"


def test_a_silent_api_server_ends_the_drill() -> None:
    with pytest.raises(Unreachable):
        Bed({}, refuse=refusing("work0-0", Unreachable("https://127.0.0.1:1"))).run()


@pytest.mark.parametrize(
    ("gpus", "pods"), [(Gpus(2), 12), (Gpus(1, instances=7), 42), (Gpus(2, instances=2, clients=3), 72)]
)
def test_all_gpus_of_spot_are_the_devices_that_pods_ask_for(gpus: Gpus, pods: int) -> None:
    bed = Bed({"pods": "100% of spot"}, gpus=gpus)
    bed.run()
    assert bed.client.created[0]["spec"]["completions"] == pods


def test_the_second_side_of_a_comparison_has_the_work_of_the_first() -> None:
    work: list[Object] = [
        {"count": "100% of on-demand", "runFor": "10m-20m"},
        {"at": "2m", "pods": "50% of spot", "parallelism": "50% of on-demand", "runFor": "5m-50m"},
        {"at": "3m", "kind": "Workflow", "role": "pipeline", "runFor": "5m-50m"},
    ]
    beds, basis = [], None
    for twin in (2, 4):
        bed = Bed(*work, twin=twin, basis=basis)
        # An eviction draws as many numbers as it takes machines: the two sides differ in that.
        bed.drill.clock.at(60.0, lambda bed=bed, twin=twin: [bed.drill.random.random() for _ in range(twin)])
        drill = bed.run()
        record = records.empty()
        record.work = list(drill.kubelets.work.values())
        basis = drill.basis.worked(record)
        beds.append(bed)
    before, after = beds
    assert len(before.client.created) == 2 + 1 + 1
    assert before.client.created == after.client.created
    assert list(before.drill.kubelets.work.values()) == list(after.drill.kubelets.work.values())
    alone = Bed(*work, twin=4)
    assert len(alone.run().kubelets.work) == len(after.drill.kubelets.work) + 2


def test_the_record_has_the_very_seconds_that_pods_work() -> None:
    bed = Bed({"count": 5, "runFor": "10m-20m", "checkpointEvery": "90.5s"})
    drill = bed.run()
    notes = [body["spec"]["template"]["metadata"]["annotations"] for body in bed.client.created]
    work = list(drill.kubelets.work.values())
    assert [float(each[RUN_FOR]) for each in notes] == [each.needs for each in work]
    assert [float(each[CHECKPOINT]) for each in notes] == [each.checkpoint for each in work]


def test_the_autoscaler_sees_what_disruption_budgets_allow_by_now() -> None:
    bed = Bed({}, {"at": "30m"})
    metadata = {"name": "b", "namespace": "kubeflow", "uid": "b"}
    bed.api.events[BUDGETS] = []
    for number, change in enumerate(("ADDED", "MODIFIED")):
        status, version = {"disruptionsAllowed": number}, {"resourceVersion": str(number + 2)}
        body = {"metadata": {**metadata, **version}, "status": status}
        bed.api.events[BUDGETS].append({"type": change, "object": body})
    observed, ends = bed.drill.observed, time.monotonic() + 10

    def wait() -> None:
        while time.monotonic() < ends and not allowed(observed.objects["PodDisruptionBudget"].get("b")):
            observed.drain(0.01)

    bed.drill.clock.at(60.0, wait)
    bed.run()
    (budget,) = bed.scaler.worlds[-1].budgets
    assert budget["status"]["disruptionsAllowed"] == 1
    assert len(bed.scaler.worlds) > 1, "it is asked again when a budget allows more"


def allowed(budget: Object | None) -> int:
    return budget["status"]["disruptionsAllowed"] if budget else 0


def workflow(phase: str, message: str = "") -> Object:
    metadata = {"uid": "w", "name": "work0-0", "annotations": {WORK: "team-a/work0-0"}}
    return {"metadata": metadata, "status": {"phase": phase, **({"message": message} if message else {})}}


def test_a_workflow_has_a_step_and_two_drivers_and_fails_as_a_whole() -> None:
    bed = Bed({"kind": "Workflow", "role": "pipeline", "checkpointEvery": "1m"})
    drill = bed.run()
    pieces = {each.name.rpartition("/")[2]: (each.needs, each.checkpoint) for each in drill.kubelets.work.values()}
    assert pieces == {"root-driver": (5.0, None), "step-driver": (5.0, None), "step": (600.0, 60.0)}
    (body,) = bed.client.created
    assert body["spec"]["podMetadata"]["annotations"][WORK] == "team-a/work0-0"
    assert drill.settling.expected["team-a/work0-0"]() == 1, "one pod at a time"
    drill.kubelets.work["team-a/work0-0/root-driver"].finished = 10.0
    drill._seen("Workflow", None, workflow("Running"))
    assert "team-a/work0-0" in drill.settling.expected
    drill._seen("Workflow", None, workflow("Failed", "child 'step' failed"))
    failed = {each.name.rpartition("/")[2]: each.failed for each in drill.kubelets.work.values()}
    words = "its Workflow failed: child 'step' failed"
    assert failed == {"root-driver": "", "step-driver": words, "step": words}
    assert "team-a/work0-0" not in drill.settling.expected, "no pod is awaited"
