"""The end of pods on nodes that the cloud takes back, and the conditions of such nodes."""

from typing import Any, cast

import pytest

from sandbox.azure.scale_sets import SPOT as AKS
from sandbox.cloud.spot_nodes import SpotFacts
from sandbox.cluster import eviction
from sandbox.gcp.gcp_spot import SPOT as GKE
from sandbox.kubernetes import node_objects
from sandbox.kubernetes.client import Client

Object = dict[str, Any]


def pod(name: str, node: str = "a", phase: str = "Running", owner: str = "Job", **spec: Any) -> Object:
    metadata = {"name": name, "namespace": "team-a", "ownerReferences": [{"kind": owner, "name": "it"}]}
    containers = [{"name": "main", "image": "example.com/train:1"}]
    return {
        "metadata": metadata,
        "spec": {"nodeName": node, "containers": containers, **spec},
        "status": {"phase": phase, "startTime": "2026-11-22T21:00:00Z"},
    }


class Api:
    """An API server with these pods; `held` are those that a disruption budget keeps."""

    def __init__(self, *pods: Object, held: tuple[str, ...] = ()) -> None:
        self.pods, self.held = list(pods), held
        self.evicted: list[tuple[str, int]] = []
        self.statuses: dict[str, Object] = {}
        self.applied: list[Object] = []

    def list(self, api_version: str, kind: str) -> list[Object]:
        return self.pods

    def evict(self, name: str, namespace: str, grace: int) -> bool:
        self.evicted.append((name, grace))
        return name not in self.held

    def patch_status(self, api_version: str, kind: str, name: str, status: Object, namespace: str = "") -> None:
        self.statuses[name] = status

    def apply(self, body: Object, manager: str) -> None:
        self.applied.append(body)

    @property
    def client(self) -> Client:
        return cast(Client, self)


@pytest.mark.parametrize(
    ("found", "ends"),
    [
        (pod("train"), True),
        (pod("waits", phase="Pending"), True),
        (pod("elsewhere", node="b"), False),
        (pod("done", phase="Succeeded"), False),
        (pod("failed", phase="Failed"), False),
        (pod("plugin", owner="DaemonSet"), False),
        (pod("mirror", owner="Node"), False),
    ],
    ids=lambda value: value["metadata"]["name"] if isinstance(value, dict) else "",
)
def test_pods_that_run_on_the_node_end_but_a_daemonsets(found: Object, ends: bool) -> None:
    assert bool(eviction.pods_of(Api(found).client, ["a"])) == ends


@pytest.mark.parametrize(
    ("facts", "asked", "critical", "granted"),
    [
        (AKS, 10, False, 10),
        (AKS, 600, False, 24),
        (AKS, None, False, 24),
        (AKS, 0, False, 0),
        (GKE, 25, False, 15),
        (GKE, 25, True, 15),
        (GKE.extended(120, 20), 600, False, 100),
        (GKE.extended(120, 20), 600, True, 20),
    ],
)
def test_a_pod_gets_its_own_grace_at_most_the_clouds(
    facts: SpotFacts, asked: int | None, critical: bool, granted: int
) -> None:
    spec = {"priorityClassName": "system-cluster-critical"} if critical else {}
    assert eviction.grace(pod("train", terminationGracePeriodSeconds=asked, **spec), facts) == granted


def test_a_drain_asks_for_each_pod_once_and_again_for_those_a_budget_holds() -> None:
    ending = pod("ending")
    ending["metadata"]["deletionTimestamp"] = "2026-11-22T21:00:00Z"
    api = Api(held=("guarded",))
    held = eviction.drain(api.client, [pod("train"), pod("guarded"), ending], AKS)
    assert [name for name, _ in api.evicted] == ["train", "guarded"]
    assert [found["metadata"]["name"] for found in held] == ["guarded"]


def test_a_shut_down_pod_is_failed_and_its_job_is_told_why() -> None:
    api = Api()
    eviction.shut_down(api.client, [pod("train")], GKE)
    status = api.statuses["train"]
    assert (status["phase"], status["reason"]) == ("Failed", "Terminated")
    disrupted = {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet"}
    assert disrupted.items() <= status["conditions"][-1].items()
    (container,) = status["containerStatuses"]
    assert container["state"]["terminated"]["exitCode"] == 143


def test_the_events_of_a_notice_are_those_of_the_cloud() -> None:
    api = Api()
    eviction.report(api.client, ["a", "b"], AKS, "Sun, 22 Nov 2026 21:31:00 GMT")
    found = [(event["involvedObject"]["name"], event["reason"]) for event in api.applied]
    assert found == [(node, reason) for node in "ab" for reason in ("VMEventScheduled", "PreemptScheduled")]
    assert api.applied[0]["message"].startswith("Preempt Scheduled: Sun, 22 Nov 2026 21:31:00 GMT. ")


def test_only_conditions_that_are_other_than_the_clouds_are_changed() -> None:
    def node(*conditions: tuple[str, str, str]) -> Object:
        return {"status": {"conditions": [{"type": t, "status": s, "reason": r} for t, s, r in conditions]}}

    live = node(("Ready", "True", "KubeletReady"), ("VMEventScheduled", "False", "NoVMEventScheduled"))
    assert node_objects.changed_conditions(live, node(("VMEventScheduled", "False", "NoVMEventScheduled"))) == []
    assert node_objects.changed_conditions(live, {"status": {}}) == []
    (changed,) = node_objects.changed_conditions(live, node(("Ready", "Unknown", "NodeStatusUnknown")))
    assert changed["status"] == "Unknown"
    assert changed["lastTransitionTime"].endswith("Z")
