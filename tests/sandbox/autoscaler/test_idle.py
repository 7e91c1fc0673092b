"""Empty nodes, and when they are removed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sandbox.cluster.autoscaler.idle import Idle, empty, seconds

from .objects import group, node, pod, sized

POOL = sized(group("general", 6), 3)
ONE, TWO, THREE = POOL.nodes
PROFILE = {"scaleDownUnneededTime": "10m", "scaleDownDelayAfterAdd": "2m"}


def owned(**metadata: Any) -> Any:
    return {**pod("agent", nodeName=ONE), "metadata": {"namespace": "default", "name": "agent", **metadata}}


@pytest.mark.parametrize(
    ("on_it", "is_empty"),
    [
        (pod("work", nodeName=ONE), False),
        ({**pod("work", nodeName=ONE), "status": {"phase": "Succeeded"}}, True),
        (owned(ownerReferences=[{"kind": "DaemonSet"}]), True),
        (owned(ownerReferences=[{"kind": "ReplicaSet"}]), False),
        (owned(annotations={"kubernetes.io/config.mirror": "hash"}), True),
    ],
)
def test_a_node_is_empty_without_pods_of_its_own(on_it: Any, is_empty: bool) -> None:
    assert empty([node(POOL, ONE)], [on_it], set()) == ({ONE} if is_empty else set())


def test_a_node_that_a_waiting_pod_will_use_or_that_is_to_stay_is_not_empty() -> None:
    stays = {"annotations": {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}}
    nodes = [node(POOL, ONE), node(POOL, TWO, metadata={"name": TWO, **stays}), node(POOL, THREE)]
    assert empty(nodes, [], {THREE}) == {ONE}


def test_a_node_goes_when_it_was_empty_all_the_time() -> None:
    idle = Idle()
    idle.observe(0, {ONE, TWO})
    idle.observe(300, {TWO})
    idle.observe(301, {ONE, TWO})
    assert idle.due(599, [POOL], PROFILE, 1) == {}
    assert idle.due(600, [POOL], PROFILE, 1) == {POOL.pool_id: [TWO]}
    assert idle.due(901, [POOL], PROFILE, 1) == {POOL.pool_id: [TWO, ONE]}
    # The longest empty first, and never below the minimum.
    assert idle.due(901, [replace(POOL, least=2)], PROFILE, 1) == {POOL.pool_id: [TWO]}
    assert idle.due(901, [replace(POOL, least=3)], PROFILE, 1) == {}
    assert idle.due(901, [replace(POOL, least=4)], PROFILE, 1) == {}
    assert idle.due(901, [replace(POOL, least=None)], PROFILE, 1) == {}


def test_nothing_goes_soon_after_a_pool_grew() -> None:
    idle = Idle()
    idle.observe(0, {ONE})
    idle.grown = 1000
    assert idle.due(1119, [POOL], PROFILE, 1) == {}
    assert idle.due(1120, [POOL], PROFILE, 1) == {POOL.pool_id: [ONE]}


def test_each_zone_keeps_its_own_minimum() -> None:
    idle = Idle()
    idle.observe(0, {ONE, TWO, THREE})
    zoned = replace(POOL, floors=((frozenset({ONE, TWO}), 1), (frozenset({THREE}), 1)))
    assert idle.due(600, [zoned], PROFILE, 1) == {POOL.pool_id: [ONE]}
    idle.observe(601, {TWO, THREE})
    assert idle.due(1300, [zoned], PROFILE, 1) == {POOL.pool_id: [TWO]}


def test_the_last_node_of_a_cluster_stays() -> None:
    idle = Idle()
    idle.observe(0, {ONE, TWO, THREE})
    other = replace(sized(group("other", 6), 1), pool_id="/other", least=None)
    assert idle.due(600, [POOL], PROFILE, 1) == {POOL.pool_id: [ONE, TWO]}
    assert idle.due(600, [POOL, other], PROFILE, 1) == {POOL.pool_id: [ONE, TWO, THREE]}
    third = replace(other, least=0)
    idle.observe(600, {ONE, TWO, THREE, *third.nodes})
    assert idle.due(1200, [POOL, third], PROFILE, 1) == {POOL.pool_id: [ONE, TWO, THREE]}
    single = replace(POOL, nodes=(ONE,))
    assert idle.due(600, [single], PROFILE, 1) == {}


def test_a_faster_clock() -> None:
    idle = Idle()
    idle.observe(0, {ONE})
    assert idle.due(9.9, [POOL], PROFILE, 60) == {}
    assert idle.due(10, [POOL], PROFILE, 60) == {POOL.pool_id: [ONE]}


@pytest.mark.parametrize(("text", "expected"), [("10m", 600), ("90s", 90), ("0m", 0), ("1h", 3600)])
def test_times(text: str, expected: int) -> None:
    assert seconds(text) == expected


def test_no_time() -> None:
    with pytest.raises(ValueError, match="'10' is not a time"):
        seconds("10")
