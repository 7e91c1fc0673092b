"""The drill's clock: its events, the autoscaler's scans on it, and what is missing before it may go on."""

import math
import time
from types import SimpleNamespace
from typing import Any

from drill.play.clock import Clock
from drill.play.scaling import Scans
from drill.play.settling import Settling
from drill.world.workloads import WORK
from sandbox.kubernetes.client import Object


def test_events_come_in_their_order_and_settle_once_a_moment() -> None:
    clock, seen = Clock(), list[tuple[float, str]]()

    def note(text: str) -> None:
        seen.append((clock.now, text))

    clock.at(20, lambda: note("late"))
    clock.at(10, lambda: note("first"))
    clock.at(10, lambda: note("second"))
    clock.at(10, lambda: clock.after(5, lambda: note("between")))
    clock.at(99, lambda: note("after the end"))
    clock.run(50, lambda: note("settled"))
    assert seen == [
        *((10, "first"), (10, "second"), (10, "settled")),
        *((15, "between"), (15, "settled"), (20, "late"), (20, "settled")),
    ]
    assert clock.now == 50


def test_what_an_event_does_at_its_own_time_is_of_the_same_moment() -> None:
    clock, seen = Clock(), list[str]()
    clock.at(1, lambda: clock.at(0.5, lambda: seen.append("past")))
    clock.run(2, lambda: seen.append("settled"))
    assert seen == ["past", "settled"]


def test_a_factor_holds_the_clock_back_and_real_time_may_count_from_a_later_start() -> None:
    clock = Clock(100.0)

    def start() -> None:
        time.sleep(0.05)
        clock.resume()

    clock.at(0, start)
    clock.at(10, lambda: None)
    began = time.monotonic()
    clock.run(20, lambda: None)
    assert time.monotonic() - began >= 0.25


class Scanned:
    """Scans that take no time; `wakes` by the number of scans done."""

    def __init__(self, wakes: dict[int, float]) -> None:
        self.clock, self.times, self._wakes = Clock(), list[float](), wakes
        self.scans = Scans(self.clock, 10.0, self._scan)
        self.clock.at(0.0, self._scan)

    def _scan(self) -> None:
        self.times.append(self.clock.now)
        wakes = self._wakes.get(len(self.times), math.inf)
        at_once = wakes < self.clock.now + 1
        self.scans.done(wakes if at_once else self.clock.now + 10, wakes)

    def run(self) -> list[float]:
        self.clock.run(200.0, lambda: None)
        return self.times


def test_scans_without_effect_are_left_out_and_the_others_stay_on_the_grid() -> None:
    assert Scanned({1: 34.0}).run() == [0.0, 40.0]


def test_a_change_brings_the_next_scan_of_the_grid() -> None:
    scanned = Scanned({})
    scanned.clock.at(23.0, scanned.scans.changed)
    scanned.clock.at(24.0, scanned.scans.changed)
    assert scanned.run() == [0.0, 30.0]


def test_an_unschedulable_pod_brings_a_scan_at_once() -> None:
    scanned = Scanned({})
    scanned.clock.at(23.0, scanned.scans.now)
    assert scanned.run() == [0.0, 23.0]


def test_a_scan_after_a_scale_up_follows_at_once_and_moves_the_grid() -> None:
    assert Scanned({1: 0.5, 2: 21.0}).run() == [0.0, 0.5, 30.5]


class Bed:
    """A cluster of objects, and what is missing in it."""

    def __init__(self) -> None:
        self.daemon_sets: dict[str, Object] = {}
        observed: Any = SimpleNamespace(objects={"DaemonSet": self.daemon_sets})
        self.settling = Settling(observed)
        self._seen: dict[str, Object] = {}

    @property
    def missing(self) -> set[Any]:
        return self.settling._missing()

    def see(self, kind: str, item: Object) -> None:
        uid = item["metadata"]["uid"]
        self.settling.note_change(kind, self._seen.get(uid), item)
        self._seen[uid] = item


def node(name: str = "n1", cpu: str = "4", taints: list[Object] | None = None, *, ready: bool = True) -> Object:
    conditions = [{"type": "Ready", "status": str(ready)}]
    status = {"allocatable": {"cpu": cpu, "pods": "10"}, "conditions": conditions}
    return {"metadata": {"name": name, "uid": name, "labels": {}}, "spec": {"taints": taints or []}, "status": status}


def pod(
    uid: str = "p1",
    cpu: str = "1",
    on: str = "",
    owner: str = "Job",
    phase: str = "Pending",
    *,
    tried: bool = False,
    leaving: bool = False,
) -> Object:
    spec: Object = {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]}
    if on:
        spec["nodeName"] = on
    metadata: Object = {
        "uid": uid,
        "name": uid,
        "annotations": {WORK: "team-a/train"},
        "ownerReferences": [{"kind": owner, "uid": "owner", "controller": True}],
    }
    if leaving:
        metadata["deletionTimestamp"] = "now"
    conditions = [{"type": "PodScheduled", "status": "False"}] if tried else []
    return {"metadata": metadata, "spec": spec, "status": {"phase": phase, "conditions": conditions}}


def test_a_pod_that_the_scheduler_has_not_looked_at_is_missing() -> None:
    bed = Bed()
    bed.see("Pod", pod())
    assert bed.missing == {"p1"}
    bed.see("Pod", pod(tried=True))
    assert bed.missing == set()


def test_a_pending_pod_that_fits_on_a_node_is_missing_until_it_is_bound() -> None:
    bed = Bed()
    bed.see("Pod", pod(tried=True))
    bed.see("Node", node())
    assert len(bed.missing) == 1
    bed.see("Pod", pod(on="n1"))
    assert bed.missing == set()


def test_a_pending_pod_that_fits_nowhere_is_not_awaited() -> None:
    taint = {"key": "nvidia.com/gpu", "effect": "NoSchedule"}
    for full in (node(cpu="500m"), node(taints=[taint]), node(ready=False)):
        bed = Bed()
        bed.see("Node", full)
        bed.see("Pod", pod(tried=True))
        assert bed.missing == set()


def test_room_that_another_pod_leaves_is_room_again() -> None:
    bed = Bed()
    bed.see("Node", node(cpu="1"))
    bed.see("Pod", pod("p1", on="n1"))
    bed.see("Pod", pod("p2", tried=True))
    assert bed.missing == set()
    bed.see("Pod", pod("p1", on="n1", phase="Succeeded"))
    assert len(bed.missing) == 1


def test_a_workload_with_too_few_pods_is_missing() -> None:
    bed = Bed()
    bed.settling.expected["team-a/train"] = lambda: 2
    bed.settling.short.add("team-a/train")
    bed.see("Pod", pod("p1", tried=True))
    assert bed.missing == {"team-a/train"}
    bed.see("Pod", pod("p2", tried=True))
    assert bed.missing == set()
    bed.see("Pod", pod("p1", phase="Failed"))
    assert bed.missing == {"team-a/train"}


def test_a_deployment_replaces_a_pod_that_is_asked_to_end_and_a_job_waits_until_it_has_ended() -> None:
    for owner, missing in (("ReplicaSet", {"team-a/train"}), ("Job", set()), ("StatefulSet", set())):
        bed = Bed()
        bed.settling.expected["team-a/train"] = lambda: 1
        bed.see("Pod", pod(on="n1", owner=owner))
        bed.see("Pod", pod(on="n1", owner=owner, leaving=True))
        assert bed.missing == missing, owner


def test_a_node_without_its_daemon_sets_pod_is_missing() -> None:
    bed = Bed()
    bed.daemon_sets["owner"] = {"spec": {"template": {"spec": {}}}}
    bed.see("Node", node())
    assert bed.missing == {"n1 owner"}
    bed.see("Pod", pod(on="n1", owner="DaemonSet"))
    assert bed.missing == set()


def test_a_node_on_which_a_daemon_set_has_no_pod_is_complete() -> None:
    bed = Bed()
    bed.daemon_sets["owner"] = {"spec": {"template": {"spec": {"nodeSelector": {"gpu": "yes"}}}}}
    bed.see("Node", node())
    assert bed.missing == set()
