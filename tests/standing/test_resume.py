"""The training of examples/training in a drill that takes its machine three times."""

from pathlib import Path

import pytest

from drill.judge.verdicts import verdicts
from drill.play import source
from drill.play.run import RunOptions, run_drill
from drill.world import scenario
from drill.world.basis import Trial
from drill.world.record import Record
from drill.world.scenario import Scenario
from drill.world.workloads import PIECE, STEP
from sandbox.base.home import Home
from sandbox.kubernetes.client import Object
from sandbox.tests.stack import Standing
from sandbox.tests.subjects import Subject
from tests.training import EVERY, STEPS, Training, undisturbed

pytestmark = [pytest.mark.engine, pytest.mark.slow]


class Containers:
    """Runs the training for the pods of a pipeline's step: a process for each pod, as far as the drill's clock lets it get.

    The clock stands still while a process works. So it is started when the clock says how far it comes, not before.
    """

    def __init__(self, training: Training) -> None:
        self.training = training
        self.pods: set[str] = set()
        self.ends: list[tuple[int, bool]] = []
        """How each attempt was ended: its exit code, and whether there was a notice."""

    def start(self, uid: str, pod: Object) -> None:
        if pod["metadata"]["annotations"].get(PIECE) == STEP:
            self.pods.add(uid)

    def end(self, uid: str, done: float, *, noticed: bool) -> None:
        if uid in self.pods:
            self.training.begin()
            code = self.training.lose(int(done * STEPS) // EVERY * EVERY, noticed=noticed)
            self.ends.append((code, noticed))

    def finish(self, uid: str) -> int:
        if uid not in self.pods:
            return 0
        self.training.begin()
        return self.training.finish()


def drilled(stack: Standing, folder: Path, *, retries: bool) -> tuple[Record, Containers]:
    """Run one pipeline in the scenario of three losses; its step is the real training."""
    home = Home(stack.name, stack.project, stack.home)
    found = scenario.load_scenario("checkpoints")
    work = [each.model_copy(update={"count": 1}) if each.kind == "Workflow" else each for each in found.work]
    steps: Scenario = found.model_copy(update={"work": work, "retries": retries})
    containers = Containers(Training(folder / "run"))
    with source.copied(home, folder / "copy", lambda _: None) as copy:
        trial = Trial(steps, "checkpoints", 1)
        return run_drill(stack.name, copy, trial, RunOptions(executor=containers)), containers


def red(record: Record) -> dict[str, str]:
    return {verdict.name: verdict.why for verdict in verdicts(record) if verdict.ok is False}


def test_training_ends_with_the_same_numbers_whatever_the_cloud_takes(
    stack: Standing, subject: Subject, tmp_path: Path
) -> None:
    record, containers = drilled(stack, tmp_path, retries=True)
    assert red(record) == {}
    step = [pod for pod in record.pods if pod.work.endswith(f"/{STEP}")]
    assert [pod.how for pod in step] == ["evicted", "evicted", "evicted", "succeeded"]
    assert containers.ends == [(143, True), (-9, False), (143, True)]
    assert all(pod.how == "succeeded" for pod in record.pods if pod.work.endswith("driver"))
    assert containers.training.result() == undisturbed(tmp_path / "undisturbed")


def test_without_the_retry_default_the_first_loss_is_the_end(stack: Standing, subject: Subject, tmp_path: Path) -> None:
    record, containers = drilled(stack, tmp_path, retries=False)
    assert "Work lost for good" in red(record)
    assert "its Workflow " in red(record)["Work lost for good"]
    assert [pod.how for pod in record.pods if pod.work.endswith(f"/{STEP}")] == ["evicted"]
    assert (len(containers.ends), containers.training.result()) == (1, None)
