"""What a record shows at a moment, how durations are written, and turns of pools that stay silent."""

from dataclasses import replace

import pytest

from drill.judge.turns import given_up, in_turn
from drill.judge.verdict import moment, seconds, span
from drill.judge.view import View
from drill.judge.waits import Wait, fallback, waits
from drill.world.record import Event, Node, Record, Step, Work
from tests.drill import records
from tests.drill.changes import red


def test_back_offs_double_and_are_forgotten() -> None:
    """5 minutes, then 10; a failure within one lets the same time begin again (utils/backoff/exponential_backoff.go)."""
    record = records.empty(length=40_000.0)
    record.events = [Event(at, "backoff", "gpuspot", "") for at in (100.0, 200.0, 500.0, 1200.0, 12_001.0)]
    assert View(record).backoffs["gpuspot"] == [(100.0, 500.0), (500.0, 1100.0), (1200.0, 2400.0), (12_001.0, 12_301.0)]
    record.events[-1] = Event(11_999.0, "backoff", "gpuspot", "")
    assert View(record).backoffs["gpuspot"][-1] == (11_999.0, 13_799.0)


def test_spot_capacity_counts_the_nodes_that_are_held() -> None:
    record = records.empty()
    record.capacity = [Step(0.0, records.MACHINE, "1", 2), Step(100.0, records.MACHINE, "1", None)]
    record.nodes = [
        Node("a", "gpuspot", "1", 10.0, 20.0, 30.0),
        Node("b", "gpuspot", "1", 15.0, gone=90.0, why="never registered"),
    ]
    view = View(record)
    assert [view.free(view.pools["gpuspot"], at) for at in (5.0, 50.0, 120.0)] == [2.0, 1.0, float("inf")]
    assert view.room(view.pools["gpuspot"], 120.0) == 19


@pytest.mark.parametrize(
    ("text", "expected"), [("10m", 600.0), ("90s", 90.0), ("1h30m", 5400.0), ("10", 10.0), ("0.5", 0.5)]
)
def test_durations_are_read(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", "ten", "10 m", "10d"])
def test_other_texts_are_no_durations(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration"):
        seconds(text)


def test_times_are_written_in_the_unit_that_suits_them() -> None:
    spans = ["0 s", "45 s", "1.7 min", "15.6 min", "2.0 h", "8.1 days"]
    assert [span(value) for value in (0, 45, 99.6, 936, 7200, 700_000)] == spans
    assert [moment(value) for value in (5, 1286.4, 3605, 200_000)] == ["0:05", "21:26", "1:00:05", "2 d 7:33"]


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
    """Return a drill whose spot pools, a and b, asked in this order, never come; then the pod gets a node on demand."""
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
