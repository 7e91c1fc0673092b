"""The lives of pods by the drill's clock."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from drill.play.clock import Clock
from drill.play.kubelet import COLLECTED, LEAST, START, STOP, Kubelets
from drill.world import record
from drill.world.workloads import CHECKPOINT, GPUS, INDEX, ROLE, RUN_FOR, SAVE, WORK
from sandbox.kubernetes.client import Object
from tests.drill.machine_bed import Server


class Bed:
    """Kubelets with a clock, and a pod that comes again and again for one piece of work."""

    def __init__(self, needs: float = 1000, checkpoint: float | None = 300, save: float | None = None) -> None:
        self.clock = Clock()
        self.server = Server(self.clock)
        self.kubelets = Kubelets(self.clock, self.server, {"n1": "t4", "n2": "t4od"}, lambda pod: ("t4",))  # type: ignore[arg-type]
        self.work = record.Work("team-a/train/0", "training", 0.0, needs, checkpoint)
        self.kubelets.work[self.work.name] = self.work
        self._notes = {ROLE: "training", WORK: "team-a/train", INDEX: "0", GPUS: "1", RUN_FOR: f"{needs}"}
        if checkpoint:
            self._notes[CHECKPOINT] = f"{checkpoint}"
        if save is not None:
            self._notes[SAVE] = f"{save}"

    def pod(self, uid: str, node: str | None = None, **metadata: Any) -> Object:
        spec: Object = {"containers": [{"name": "main", "image": "i"}]}
        if node:
            spec["nodeName"] = node
        owner = [{"kind": "Job", "controller": True}]
        base = {"uid": uid, "name": uid, "namespace": "team-a", "annotations": self._notes, "ownerReferences": owner}
        return {"metadata": {**base, **metadata}, "spec": spec, "status": {"phase": "Pending"}}

    def bind(self, uid: str, node: str) -> None:
        before = self.pod(uid)
        self.kubelets.note_change(None, before)
        self.kubelets.note_change(before, self.pod(uid, node))

    def evict(self, uid: str, node: str, grace: int) -> None:
        """Ask a pod to end within so many seconds."""
        ending = self.pod(uid, node, deletionTimestamp="now", deletionGracePeriodSeconds=grace)
        self.kubelets.note_change(self.pod(uid, node), ending)

    def until(self, time: float) -> None:
        self.clock.run(time, lambda: None)

    def again(self, at: float) -> tuple[record.Pod, record.Pod]:
        """Let a second pod do the rest of the work on another machine; both pods."""
        self.until(at)
        self.bind("b", "n2")
        self.until(5000)
        first, second = self.kubelets.pods
        return first, second


def working(until: float = 500, **work: Any) -> tuple[Bed, record.Pod]:
    """Return a pod that has been bound to a machine for so many seconds."""
    bed = Bed(**work)
    bed.bind("a", "n1")
    bed.until(until)
    return bed, bed.kubelets.pods[0]


def test_a_pod_starts_works_and_succeeds() -> None:
    bed, pod = working(5000)
    assert (pod.bound, pod.started, pod.ended, pod.how) == (0, START, START + 1000, "succeeded")
    assert (pod.pool, pod.reach, pod.role, pod.gpus) == ("t4", ("t4",), "training", 1)
    assert (bed.work.finished, bed.work.times) == (START + 1000, 1)
    assert bed.server.told == ["Running", "Succeeded"]


@pytest.mark.parametrize(("checkpoint", "lost"), [(300, 195.0), (None, 495.0)])
def test_work_since_the_last_checkpoint_is_lost_with_the_machine_and_the_rest_is_not_done_again(
    checkpoint: float | None, lost: float
) -> None:
    bed, _ = working(checkpoint=checkpoint)
    bed.kubelets.leaving["n1"] = "evicted"
    bed.kubelets.lost("n1")
    first, second = bed.again(600)
    assert (first.how, first.ended, first.lost) == ("evicted", 500, lost)
    assert second.ended == 600 + START + 1000 - (495 - lost)
    assert bed.work.times == 1


def test_a_pod_on_a_machine_that_is_gone_is_collected_later_and_does_not_finish() -> None:
    bed, _ = working()
    bed.server.sent.clear()
    bed.kubelets.lost("n1")
    # As recorded of the real program (pkg/controller/podgc).
    assert COLLECTED == 56
    bed.until(500 + COLLECTED - 1)
    assert bed.server.told == []
    bed.until(500 + COLLECTED)
    assert bed.server.told == ["Failed", "gone"]
    bed.until(5000)
    assert (bed.work.finished, bed.work.times) == (None, 0)


def test_a_pod_that_is_asked_to_end_heeds_it_and_says_why() -> None:
    bed, pod = working()
    bed.kubelets.lives["a"].ending = "drained"
    bed.evict("a", "n1", 25)
    bed.until(600)
    assert (pod.how, pod.ended) == ("drained", 500 + STOP)
    assert bed.server.told[-2:] == ["Failed", "gone"]


@pytest.mark.parametrize(
    ("save", "ended", "lost"),
    [
        pytest.param(2, 502, 0.0, id="saved within the grace"),
        pytest.param(10, 510, 0.0, id="saved at its end"),
        pytest.param(11, 510, 205.0, id="killed while it saves: back to the last checkpoint"),
        pytest.param(None, 500 + STOP, 195.0 + STOP, id="does not save on SIGTERM"),
    ],
)
def test_work_is_saved_after_sigterm_where_the_grace_is_long_enough(
    save: float | None, ended: float, lost: float
) -> None:
    bed, _ = working(save=save)
    bed.kubelets.lives["a"].ending = "evicted"
    bed.evict("a", "n1", 10)
    first, second = bed.again(600)
    assert (first.how, first.ended, first.lost) == ("evicted", ended, lost)
    kept = 495 if lost == 0 else 300
    assert second.ended == 600 + START + 1000 - kept


def test_a_machine_that_goes_while_its_pod_saves_takes_the_unsaved_work_along() -> None:
    bed, pod = working(save=20)
    bed.evict("a", "n1", 24)
    bed.until(508)
    bed.kubelets.lost("n1")
    bed.until(600)
    assert (pod.ended, pod.lost, bed.kubelets.progress["team-a/train/0"]) == (508, 203.0, 300.0)


def test_a_pod_bound_to_a_machine_that_goes_before_it_starts_never_runs() -> None:
    bed, pod = working(0)
    bed.kubelets.lost("n1")
    bed.until(100)
    assert (pod.started, pod.how, pod.lost) == (None, "evicted", 0.0)


def test_a_silent_kubelet_neither_starts_nor_ends_a_pod_until_it_answers() -> None:
    bed, first = working()
    bed.kubelets.silent["n1"] = []
    bed.bind("b", "n1")
    bed.until(2000)
    second = bed.kubelets.pods[1]
    assert (first.ended, second.started) == (None, None)
    assert bed.server.told == ["Running"]
    bed.kubelets.answer("n1")
    assert (first.ended, first.how, second.started) == (2000, "succeeded", 2000)


def test_a_pod_that_is_deleted_meanwhile_ends_when_its_kubelet_answers() -> None:
    bed, pod = working()
    bed.kubelets.silent["n1"] = []
    bed.kubelets.lives["a"].ending = "evicted"
    bed.evict("a", "n1", 30)
    bed.until(800)
    assert pod.ended is None
    bed.kubelets.answer("n1")
    assert (pod.how, pod.ended) == ("evicted", 800)


@pytest.mark.parametrize(("checkpoint", "lost", "left"), [(300, 100.0, 100), (500, 0.0, LEAST)])
def test_a_machine_that_is_gone_answers_no_more_and_work_that_nobody_heard_of_is_done_again(
    checkpoint: float, lost: float, left: float
) -> None:
    """A pod that finds all its work saved runs before it ends."""
    bed, _ = working(checkpoint=checkpoint)
    bed.kubelets.silent["n1"] = []
    bed.until(3000)
    bed.kubelets.lost("n1")
    first, second = bed.again(3000)
    assert (first.how, first.lost) == ("evicted", lost)
    assert (second.started, second.ended) == (3000 + START, 3000 + START + left)
    assert bed.work.times == 1
    assert bed.kubelets.silent == {}


def test_a_pod_is_recorded_on_its_machine_by_the_machines_own_name() -> None:
    bed = Bed()
    bed.kubelets.names["n1"] = "n1#2"
    bed.bind("a", "n1")
    bed.until(500)
    bed.kubelets.lost("n1")
    (pod,) = bed.kubelets.pods
    assert (pod.node, pod.how) == ("n1#2", "evicted")


@dataclass
class Noting:
    """Takes down what becomes of containers, and ends them with a code."""

    code: int = 0
    calls: list[tuple[Any, ...]] = field(default_factory=list)

    def start(self, uid: str, pod: Object) -> None:
        self.calls.append(("start", uid))

    def end(self, uid: str, done: float, *, noticed: bool) -> None:
        self.calls.append(("end", uid, round(done, 3), noticed))

    def finish(self, uid: str) -> int:
        self.calls.append(("finish", uid))
        return self.code


def test_an_executor_learns_when_a_container_starts_ends_and_is_done() -> None:
    bed = Bed(checkpoint=300)
    bed.kubelets.executor = noting = Noting()
    bed.bind("a", "n1")
    bed.until(505)
    bed.kubelets.lost("n1")
    bed.again(505)
    # The second pod begins at the checkpoint, not where the first one ended.
    assert noting.calls == [("start", "a"), ("end", "a", 0.5, False), ("start", "b"), ("finish", "b")]


def test_a_pod_that_is_told_to_end_has_its_notice() -> None:
    bed = Bed()
    bed.kubelets.executor = noting = Noting()
    bed.bind("a", "n1")
    bed.until(105)
    bed.evict("a", "n1", 24)
    bed.until(200)
    assert noting.calls[1:] == [("end", "a", 0.102, True)]


def test_a_container_that_fails_by_itself_fails_its_pod() -> None:
    bed = Bed()
    bed.kubelets.executor = Noting(code=3)
    bed.bind("a", "n1")
    bed.until(5000)
    assert (bed.kubelets.pods[0].how, bed.work.finished, bed.work.times) == ("failed", None, 0)
    assert bed.server.told == ["Running", "Failed"]
