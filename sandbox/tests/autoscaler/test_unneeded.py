"""Nodes that go: which and when."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sandbox.autoscaler.autoscaler_options import Options

from . import objects
from .objects import FIRST, PLAIN, SECOND, Steps, node, pod, running, sized, spot, training


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


def test_a_new_process_keeps_the_nodes_that_the_old_one_had_chosen() -> None:
    steps = Steps(PLAIN)
    going = {"spec": {"taints": [{"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}]}}
    steps.nodes = {SECOND: node(PLAIN, SECOND, **going)}
    steps.at(0, running("busy", FIRST))
    assert steps.cloud.calls == [("untaint", [SECOND])]
