"""What keeps a node: its pods, their annotations, budgets and use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from .objects import FIRST, PLAIN, SECOND, Steps, budget, running, sized

MIRROR = "kubernetes.io/config.mirror"
EVICT = "cluster-autoscaler.kubernetes.io/enable-ds-eviction"
SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
OLD: Any = {"uid": "old"}
SYSTEM: Any = {"namespace": "kube-system"}
MEMORY: Any = {"spec": {"volumes": [{"name": "memory", "emptyDir": {"medium": "Memory"}}]}}
SCRATCH: Any = {"spec": {"volumes": [{"name": "scratch", "emptyDir": {}}]}}


@pytest.mark.parametrize(
    ("small", "settings", "budgets", "kept"),
    [
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
