"""What is missing before the drill's clock may go on."""

from __future__ import annotations

from typing import Any

from drill.play.settling import Settling
from drill.world.workloads import WORK

Object = dict[str, Any]


class Observed:
    """The objects of a cluster."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Object]] = {"DaemonSet": {}}


class Bed:
    """A cluster of objects, and what is missing in it."""

    def __init__(self) -> None:
        self.observed = Observed()
        self.settling = Settling(self.observed)  # type: ignore[arg-type]
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
    bed.observed.objects["DaemonSet"]["owner"] = {"spec": {"template": {"spec": {}}}}
    bed.see("Node", node())
    assert bed.missing == {"n1 owner"}
    bed.see("Pod", pod(on="n1", owner="DaemonSet"))
    assert bed.missing == set()


def test_a_node_on_which_a_daemon_set_has_no_pod_is_complete() -> None:
    bed = Bed()
    bed.observed.objects["DaemonSet"]["owner"] = {"spec": {"template": {"spec": {"nodeSelector": {"gpu": "yes"}}}}}
    bed.see("Node", node())
    assert bed.missing == set()
