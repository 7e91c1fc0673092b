"""Nodes that go: which and when, and what keeps a node: its pods, their annotations, budgets and use."""

from dataclasses import replace
from typing import Any

import pytest

from sandbox.autoscaler.autoscaler_options import Options

from . import objects
from .objects import FIRST, GPU, ONE_GPU, PLAIN, SECOND, SPOT, Steps, budget, node, pod, running, sized, spot, training

MIRROR = "kubernetes.io/config.mirror"
EVICT = "cluster-autoscaler.kubernetes.io/enable-ds-eviction"
SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
OLD: Any = {"uid": "old"}
SYSTEM: Any = {"namespace": "kube-system"}
MEMORY: Any = {"spec": {"volumes": [{"name": "memory", "emptyDir": {"medium": "Memory"}}]}}
SCRATCH: Any = {"spec": {"volumes": [{"name": "scratch", "emptyDir": {}}]}}


def test_a_pod_that_comes_to_a_tainted_node_keeps_it() -> None:
    steps = Steps(PLAIN)
    steps.cloud.refusing = {SECOND}
    busy = running("busy", FIRST, "3")
    steps.at(0, busy)
    steps.at(60, busy)
    assert steps.at(65, busy) == [FIRST, SECOND]
    assert steps.cloud.calls[-1] == ("untaint", [SECOND])


def test_a_drain_that_a_budget_refuses_is_given_up_after_two_minutes() -> None:
    steps = Steps(PLAIN)
    steps.cloud.refusing = {"small"}
    pods = [running("busy", FIRST, "2500m"), running("small", SECOND)]
    for now in (0, 60, *range(65, 195, 10)):
        left = steps.at(now, *pods)
    assert left == [FIRST, SECOND]
    assert steps.cloud.calls[-1] == ("untaint", [SECOND])
    assert "could not be evicted" in steps.cloud.decisions[-1].reason


def test_empty_nodes_are_looked_at_before_nodes_that_were_unneeded_before() -> None:
    """builder/autoscaler.go, scaleDownCandidatesComparers; so no pod moves to a node that becomes unneeded."""
    steps, small = Steps(PLAIN), running("small", SECOND)
    steps.at(0, small, running("other", FIRST, "2500m"))
    assert steps.scaler.wakes() == 60
    for now in (60, 120, 125):
        steps.at(now, small)
    assert steps.cloud.calls == [("taint", [FIRST]), ("remove", [FIRST])]


def test_pods_without_a_place_elsewhere_keep_their_node_and_it_is_looked_at_again_after_five_minutes() -> None:
    steps = Steps(PLAIN)
    busy, small = running("busy", FIRST, "3500m"), running("small", SECOND)
    for now in range(0, 120, 5):
        steps.at(now, busy, small)
    assert (steps.cloud.calls, steps.scaler.wakes()) == ([], 300)
    light = running("light", FIRST, "2500m")  # now there is a place
    for now in range(120, 360, 5):
        steps.at(now, light, small)
    assert steps.cloud.calls == []
    steps.at(360, light, small)
    assert steps.cloud.calls == [("taint", [SECOND])]


def test_pods_younger_than_the_profiles_delay_hold_no_removal() -> None:
    """The real loop has nothing to do for them, and goes on (core/static_autoscaler.go, filterOutYoungPods)."""
    steps = Steps(PLAIN, spot(4), newPodScaleUpDelay="300s")
    since = {("default", "train-0"): 59.0}
    steps.at(0)
    steps.at(60, *training(1), since=since)
    assert steps.cloud.calls == [("taint", [FIRST, SECOND])]


def test_pods_that_would_move_to_a_node_move_with_its_own() -> None:
    """simulator/cluster.go: the first node's pod fits on the second, both together nowhere; so one node goes."""
    pool = sized(PLAIN, 3)
    steps = Steps(pool, options=Options(most_drains=2))
    pods = [
        running(f"p{n}", name, cpu) for n, (name, cpu) in enumerate(zip(pool.nodes, ("1", "1", "2500m"), strict=True))
    ]
    for now in (0, 60):
        steps.at(now, *pods)
    assert steps.cloud.calls == [("taint", [FIRST])]


def test_a_node_that_takes_a_waiting_pod_takes_others_too() -> None:
    steps, waiting = Steps(PLAIN), pod("waiting", {"cpu": "500m"})
    for now in (0, 60):
        steps.at(now, running("busy", FIRST, "2"), running("small", SECOND), waiting)
    assert steps.cloud.calls == [("taint", [SECOND])]


def test_a_group_keeps_its_minimum_a_zone_its_floor_and_annotations_keep_nodes() -> None:
    kept = {"annotations": {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}}
    steps = Steps(PLAIN)
    steps.nodes = {FIRST: node(PLAIN, FIRST, metadata=kept)}
    assert steps.over() == [FIRST]
    assert len(Steps(replace(PLAIN, least=1)).over()) == 1
    assert Steps(replace(PLAIN, floors=((frozenset({SECOND}), 1),))).over() == [SECOND]
    assert Steps(PLAIN).over() == []
    # GKE: the pool can reach 0, the cluster cannot.
    assert len(Steps(PLAIN, cloud="gcp").over()) == 1


@pytest.mark.parametrize(("settings", "left"), [({}, 2), ({"maxEmptyBulkDelete": "1"}, 3)])
def test_so_many_empty_nodes_go_at_once(settings: Any, left: int) -> None:
    pool = sized(objects.group("general", 20, gpu="0"), 12 if not settings else 4)
    steps = Steps(pool, **settings)
    for now in (0, 60, 65):
        names = steps.at(now)
    assert len(names) == left


def test_no_removal_for_a_while_after_a_scale_up() -> None:
    steps = Steps(PLAIN, spot(4), scaleDownDelayAfterAdd="300s")
    steps.at(0)
    steps.at(40, *training(1), since={("default", "train-0"): 0})
    grown = next(decision.at for decision in steps.cloud.decisions if decision.action == "scale-up")
    busy = [pod("train-0", ONE_GPU, [SPOT, GPU], nodeName=steps.cloud.groups[spot(4).name].nodes[0])]
    assert grown == 40
    steps.at(335, *busy)
    assert not [call for call, _ in steps.cloud.calls if call == "taint"]
    steps.at(340, *busy)
    assert ("taint", [FIRST, SECOND]) in steps.cloud.calls


def test_nothing_goes_while_new_pods_may_become_more() -> None:
    steps = Steps(PLAIN, spot(4))
    steps.at(0)
    since = {("default", "train-0"): 59.0}
    steps.at(60, *training(1), since=since)
    assert steps.cloud.calls == []
    steps.at(65)
    assert steps.cloud.calls == [("taint", [FIRST, SECOND])]


def test_a_new_process_keeps_the_nodes_that_the_old_one_had_chosen() -> None:
    steps = Steps(PLAIN)
    going = {"spec": {"taints": [{"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}]}}
    steps.nodes = {SECOND: node(PLAIN, SECOND, **going)}
    steps.at(0, running("busy", FIRST))
    assert steps.cloud.calls == [("untaint", [SECOND])]


@pytest.mark.parametrize(
    ("small", "settings", "budgets", "kept"),
    [
        ({"annotations": {SAFE: "false"}}, {}, [], True),
        ({"annotations": {SAFE: "on-completion"}}, {}, [], True),
        ({"annotations": {SAFE: "on-completion"}, "ownerReferences": []}, {}, [], True),
        ({"ownerReferences": []}, {}, [], True),
        ({"ownerReferences": [], "annotations": {SAFE: "true"}}, {}, [], False),
        ({"ownerReferences": [{"kind": "TFJob", "controller": True}]}, {}, [], True),
        ({"ownerReferences": [{"kind": "DaemonSet"}]}, {}, [], False),
        ({"ownerReferences": [], "annotations": {"cluster-autoscaler.kubernetes.io/daemonset-pod": "true"}}, {}, [], False),
        ({"ownerReferences": [], "annotations": {"kubernetes.io/config.mirror": "x"}}, {}, [], False),
        (SYSTEM, {"skipNodesWithSystemPods": "false"}, [], False),
        # Older than an hour: it may go, whatever else it says, unless nothing replaces it.
        ({**SYSTEM, **OLD, "annotations": {SAFE: "false"}}, {}, [], False),
        ({**SYSTEM, **OLD, **SCRATCH}, {"skipNodesWithLocalStorage": "true"}, [], False),
        ({**SYSTEM, **OLD, "ownerReferences": []}, {}, [], True),
        ({**SYSTEM, **OLD, "annotations": {SAFE: "false"}}, {"skipNodesWithSystemPods": "false"}, [], True),
        ({**SYSTEM, "annotations": {SAFE: "true"}}, {}, [], False),
        (MEMORY, {"skipNodesWithLocalStorage": "true"}, [], False),
        ({**SCRATCH, "annotations": {VOLUMES: "other,scratch"}}, {"skipNodesWithLocalStorage": "true"}, [], False),
        ({**SCRATCH, "annotations": {VOLUMES: "other"}}, {"skipNodesWithLocalStorage": "true"}, [], True),
        ({"labels": {"a": "b"}}, {}, [budget(1, a="b")], False),
        ({"labels": {"a": "b"}}, {}, [budget(0, a="c")], False),
        ({}, {"scaleDownUtilizationThreshold": "0.2"}, [], True),
    ],
)  # fmt: skip
def test_what_keeps_a_node(small: Any, settings: Any, budgets: Any, kept: bool) -> None:
    steps = Steps(PLAIN, **settings)
    pods = [running("busy", FIRST, "2500m"), running("small", SECOND, **small)]
    steps.over(*pods, budgets=budgets, since={"old": -3601.0})
    assert kept != (("taint", [SECOND]) in steps.cloud.calls)


def test_a_node_whose_pods_are_left_to_end_is_unneeded_meanwhile_and_goes_once_they_ended() -> None:
    """rules/oncompletion and planner.go, NodesToDelete."""
    steps, busy = Steps(PLAIN), running("busy", FIRST, "3")
    small = running("small", SECOND, annotations={SAFE: "on-completion"}, ownerReferences=[])
    for now in (0, 60, 65):
        steps.at(now, busy, small)
    assert steps.cloud.calls == []
    steps.at(70, busy)
    assert steps.cloud.calls == [("taint", [SECOND])]


@pytest.mark.parametrize(
    ("later", "budgets"), [({}, [budget(0, a="b")]), ({"annotations": {SAFE: "false"}}, [budget(1, a="b")])]
)
def test_the_rules_are_asked_again_before_the_first_eviction(later: Any, budgets: Any) -> None:
    """core/scaledown/actuation/actuator.go, deleteNodesAsync."""
    steps, busy = Steps(PLAIN), running("busy", FIRST, "2500m")
    for now in (0, 60):
        steps.at(now, busy, running("small", SECOND, labels={"a": "b"}), budgets=[budget(1, a="b")])
    steps.at(65, busy, running("small", SECOND, labels={"a": "b"}, **later), budgets=budgets)
    assert steps.cloud.calls == [("taint", [SECOND]), ("untaint", [SECOND])]


@pytest.mark.parametrize(("allowed", "first"), [(1, 2), (2, 1)])
def test_a_node_whose_evictions_a_budget_does_not_allow_together_is_drained_last(allowed: int, first: int) -> None:
    """core/scaledown/planner/planner.go, sortByRisk."""
    pool = sized(PLAIN, 3)
    steps = Steps(pool)
    pods = [
        running("busy", pool.nodes[0], "2500m"),
        *(running(f"two-{n}", pool.nodes[1], "500m", labels={"a": "b"}) for n in range(2)),
        running("one", pool.nodes[2], "500m"),
    ]
    for now in (0, 60):
        steps.at(now, *pods, budgets=[budget(allowed, a="b")])
    assert steps.cloud.calls == [("taint", [pool.nodes[first]])]


def test_pods_that_moved_once_are_not_evicted_again_against_their_budget() -> None:
    pool = sized(PLAIN, 3)
    steps = Steps(pool)
    pods = [
        running("one", pool.nodes[0], "500m", labels={"a": "b"}),
        running("two", pool.nodes[1], "500m"),
        running("busy", pool.nodes[2], "2500m"),
    ]
    steps.at(0, *pods, budgets=[budget(1, a="b")])
    for now in (30, 60):  # the first node is used again
        steps.at(now, *pods, running("more", pool.nodes[0], "3"), budgets=[budget(1, a="b")])
    # Its pod would have moved to the second, which is looked at again after five minutes.
    assert steps.cloud.calls == []


def test_a_node_that_waits_for_its_pods_end_counts_as_gone_for_its_groups_minimum() -> None:
    """core/scaledown/unneeded/nodes.go, RemovableAt: it takes the group's last spare node from one that must be drained."""
    steps = Steps(replace(PLAIN, least=1))
    small = running("small", SECOND, annotations={SAFE: "on-completion"}, ownerReferences=[])
    steps.over(small, running("moving", FIRST))
    assert steps.cloud.calls == []


def test_daemon_sets_count_for_the_utilisation_unless_they_are_ignored() -> None:
    agent = {"ownerReferences": [{"kind": "DaemonSet"}]}
    pods = [running(f"agent-{name}", name, "2500m", **agent) for name in PLAIN.nodes]
    assert Steps(PLAIN).over(*pods) == list(PLAIN.nodes)
    assert Steps(PLAIN, ignoreDaemonsetsUtilization="true").over(*pods) == []
    # Mirrors of static pods count nevertheless (--ignore-mirror-pods-utilization is off).
    mirrors = [running(f"proxy-{name}", name, "2500m", annotations={MIRROR: "x"}) for name in PLAIN.nodes]
    assert Steps(PLAIN, ignoreDaemonsetsUtilization="true").over(*mirrors) == list(PLAIN.nodes)


@pytest.mark.parametrize(("given", "bound"), [(None, 60), (300, 360)])
def test_a_pod_that_should_be_gone_keeps_no_node(given: int | None, bound: float) -> None:
    """utils/drain/drain.go: 30 s and its grace period after its deletion timestamp, which lies at the end of that period."""
    steps = Steps(PLAIN, scaleDownUnneededTime="0s")
    going = running("going", SECOND, "3", deletionTimestamp="then", deletionGracePeriodSeconds=given)
    busy = running("busy", FIRST, "3")
    steps.at(0, busy, going)
    steps.at(bound, busy, going)
    assert steps.cloud.calls == []
    steps.at(bound + 1, busy, going)
    assert steps.cloud.calls == [("taint", [SECOND])]


@pytest.mark.parametrize(
    ("key", "wish", "evicted"),
    [
        ("daemonsetEvictionForEmptyNodes", {}, True),
        ("", {}, False),
        ("", {EVICT: "true"}, True),
        ("daemonsetEvictionForEmptyNodes", {EVICT: "false"}, False),
        # Only "true" is a wish (utils/daemonset/daemonset.go).
        ("daemonsetEvictionForEmptyNodes", {EVICT: "yes"}, False),
        ("daemonsetEvictionForEmptyNodes", {"kubernetes.io/config.mirror": "x"}, False),
    ],
)
def test_daemon_set_pods_are_evicted_where_the_profile_or_the_pod_says(key: str, wish: Any, evicted: bool) -> None:
    agents = [
        running(f"agent-{name}", name, ownerReferences=[{"kind": "DaemonSet"}], annotations=wish)
        for name in PLAIN.nodes
    ]
    steps = Steps(PLAIN, **({key: "true"} if key else {}))
    steps.over(*agents)
    assert any(call == "evict" for call, _ in steps.cloud.calls) is evicted
