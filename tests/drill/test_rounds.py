"""Chains of several spot pools that stay silent: a pool is asked again when its back-off is over before the others are given up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from drill.judge.turns import given_up, in_turn
from drill.judge.view import View
from drill.judge.waits import Wait, fallback, waits
from drill.world.record import Node, Record, Work
from tests.drill import records
from tests.drill.changes import red


@pytest.mark.parametrize(
    ("pools", "step", "order"),
    [
        (1, 910.0, "a"),
        (2, 250.0, "ab"),
        (2, 310.0, "abab"),
        (2, 610.0, "ababab"),
        (3, 190.0, "abcabc"),
        (3, 910.0, "abc"),  # They would go round for ever.
    ],
)
def test_pools_are_asked_until_all_are_backed_off(pools: int, step: float, order: str) -> None:
    named = [replace(records.pools()[1], name=name) for name in "abc"[:pools]]
    assert "".join(pool.name for pool in in_turn(named, step)) == order


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ([], (1000.0, 0)),
        ([10.0], (1000.0, 0)),
        ([990.0], (1590.0, 0)),
        ([990.0, 1200.0, 1700.0], (2300.0, 2)),
        ([10.0, 5000.0, 5200.0], (1000.0, 0)),
    ],
    ids=["none", "long over", "running", "restarted twice", "made much later for others"],
)
def test_when_a_pool_is_given_up_for_a_pod(requests: list[float], expected: tuple[float, int]) -> None:
    assert given_up(requests, 1000.0, 600.0) == expected


def silent(asked: str) -> Record:
    """Two spot pools, a and b, that never come within five minutes, asked in this order; then the pod gets a node on demand."""
    record = records.empty()
    record.settings = {"maxNodeProvisionTime": "5m", "scanInterval": "10s"}
    system, spot, twin = record.pools
    record.pools = [
        system,
        replace(spot, name="a", fallback=("b", "gpuod")),
        replace(spot, name="b", fallback=("gpuod",)),
        twin,
    ]
    at = 30.0
    for pool in asked:
        record.nodes.append(Node(f"{pool}-{at}", pool, "1", at, gone=at + 300, why="never registered"))
        at += 310
    record.nodes.append(Node("gpuod-0", "gpuod", "1", at, at + 60, at + 90))
    record.pods = [records.training("team/train", 0.0, at + 95, "gpuod-0", "gpuod")]
    return record


def measured(record: Record) -> Wait:
    (wait,) = waits(View(record))
    return wait


def test_a_second_round_counts_where_the_pools_were_asked_again_and_is_named() -> None:
    record = silent("abab")
    wait = measured(record)
    assert wait.bound
    assert (wait.unexpected, wait.bound.again, wait.allowed) == (False, 2, 30 + 4 * 310 + 90 + 10)
    assert "4 x 5.0 min provision time + 4 x 10 s scan" in fallback(View(record), [wait]).why
    record.accepted_wait = 3600.0
    verdict = fallback(View(record), [wait])
    assert verdict.state == "holds"
    assert "2 requests came again, because the back-off of a pool (5 min at first) was over" in verdict.why


def test_the_same_wait_is_late_where_nobody_asked_again() -> None:
    record = silent("ab")
    assert not measured(record).unexpected
    record.pods[0].bound = 1370.0
    assert measured(record).unexpected
    # A node that took a quarter of an hour, long after the pod had its own, is no reason for it.
    record.nodes.append(Node("gpuod-1", "gpuod", "1", 3000.0, 3060.0, 3900.0))
    assert measured(record).unexpected


def test_a_third_round_is_late() -> None:
    assert measured(silent("ababab")).unexpected


def test_a_pod_that_still_waits_for_a_second_round_is_neither_late_nor_stuck() -> None:
    record = silent("abab")
    record.clock = replace(record.clock, length=1200.0)
    record.nodes = record.nodes[:-1]
    record.pods[0].bound = record.pods[0].pool = record.pods[0].node = None
    record.pods[0].reach = ("a", "b", "gpuod")
    record.work = [Work("team/train", "training", 0.0, 600.0, 300.0)]
    record.accepted_wait = 7200.0
    assert red(record) == set()
    # On GKE, whose timers are taken for cluster-autoscaler's own, two pools are asked three times each: an hour and a half.
    record.provider, record.settings, record.clock = "gcp", {}, replace(record.clock, length=5400.0)
    assert red(record) == set()
    record.clock = replace(record.clock, length=5800.0)
    assert red(record) == {"Work completes"}


def test_a_pod_whose_twin_is_full_when_its_turn_comes_goes_through_the_spot_pools_of_another_chain() -> None:
    """Both silent pools twice, then the first pool of the other chain, silent as well, and on-demand machines behind it."""
    record = silent("abab")
    spot, twin = record.pools[1], record.pools[3]
    record.pools[3] = replace(twin, most=1)
    record.pools += [replace(spot, name="c", fallback=("otherod",)), replace(twin, name="otherod")]
    asked = 30 + 4 * 310.0
    record.nodes.append(Node("c-0", "c", "1", asked, gone=asked + 300, why="never registered"))
    record.nodes.append(Node("otherod-0", "otherod", "1", asked + 310, asked + 370, asked + 400))
    reach = ("a", "b", "gpuod", "c", "otherod")
    record.pods.append(records.training("team/more", 0.0, asked + 405, "otherod-0", "otherod"))
    for pod in record.pods:
        pod.reach = reach
    found = waits(View(record))
    assert [wait.unexpected for wait in found] == [False, False]
    record.nodes.pop(-2)
    assert [wait.unexpected for wait in waits(View(record))] == [False, True]
