"""Each verdict, green on a record of a good drill and red on the same record with one thing changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest

from sandbox.drill.checks.spans import moment, seconds, span
from sandbox.drill.record import Event, Node, Pod, Record, Step, Work
from sandbox.drill.verdicts import Best, Verdict, failed, verdicts
from tests.drill import records

LOST, TWICE, PLATFORM = "Work lost for good", "Work done twice", "Platform off spot and GPU nodes"
SHARE, WAIT, FALLBACK = "On spot while there was spot", "Longest wait for a node", "Time to fall back"
EARLY, BACK, MOVES = "None on demand before its turn", "New pods go back to spot", "Moves of running pods"
REPEATED, COMPLETE, COST, FULL = "Work done again", "Work completes", "Cost of GPU nodes", "Pools at their maximum"


def judged(record: Record, best: Best | None = None) -> dict[str, Verdict]:
    return {verdict.name: verdict for verdict in verdicts(record, best)}


def red(record: Record) -> set[str]:
    return {verdict.name for verdict in verdicts(record) if verdict.ok is False}


def best(cost: float) -> Best:
    return SimpleNamespace(cost=cost, explanation="by hindsight")


def pods_of(record: Record, pool: str) -> list[Pod]:
    return [pod for pod in record.pods if pod.pool == pool]


def a_reason(record: Record) -> None:
    record.work[-1].failed = "BackoffLimitExceeded"


def no_pod_after_an_eviction(record: Record) -> None:
    record.pods = [pod for pod in record.pods if not pod.name.startswith("team-a/train-2-1256")]
    next(work for work in record.work if work.name == "team-a/train-2").finished = None


def finished_twice(record: Record) -> None:
    record.work[4].times = 2


def two_pods_at_once(record: Record) -> None:
    first = pods_of(record, "gpuspot")[0]
    record.pods.append(replace(first, name="team-a/train-0-twin", ended=None, how=None))


def a_notebook_for_a_while_on_spot(record: Record) -> None:
    record.pods.append(
        Pod(
            "a/greedy-0",
            "a/greedy",
            "notebook",
            "StatefulSet",
            0,
            True,
            60.0,
            70.0,
            "gpuspot-1",
            "gpuspot",
            72.0,
            300.0,
            "removed",
        )
    )


def a_predictor_without_a_gpu_on_a_gpu_node(record: Record) -> None:
    record.pods.append(
        Pod("a/web-0", "a/web", "predictor", "Deployment", 0, False, 60.0, 70.0, "gpuod-1", "gpuod", 72.0)
    )


def on_demand_from_the_begin(record: Record) -> None:
    for node in record.nodes:
        if node.requested == 35.0:
            node.pool = "gpuod"
    for pod in record.pods:
        if pod.created == 5.0:
            pod.pool = "gpuod"


def on_demand_after_the_return(record: Record) -> None:
    for node in record.nodes:
        if node.requested == records.BACK + 130:
            node.pool = "gpuod"
    for pod in record.pods:
        if pod.created == records.BACK + 100:
            pod.pool = "gpuod"


def late_on_demand(record: Record) -> None:
    for pod in pods_of(record, "gpuod"):
        assert pod.bound
        pod.bound += 300


def two_moves_in_half_an_hour(record: Record) -> None:
    pod = next(pod for pod in record.pods if pod.created == records.BACK + 100)
    pod.ended, pod.how = 4300.0, "drained"
    record.pods.append(replace(pod, name="again", created=4300.0, bound=4310.0, started=4312.0, ended=5000.0))
    record.pods.append(
        replace(pod, name="and-again", created=5000.0, bound=5010.0, started=5012.0, ended=None, how=None)
    )


def more_lost_than_an_interval(record: Record) -> None:
    pods_of(record, "gpuspot")[0].lost = records.CHECKPOINT + 20


def no_checkpoints(record: Record) -> None:
    for work in record.work:
        work.checkpoint = None


def a_pod_without_a_node(record: Record) -> None:
    record.work.append(Work("c/stuck", "training", 900.0, 60.0, None))
    record.pods.append(Pod("c/stuck-0", "c/stuck", "training", "Job", 1, True, 900.0))


def no_twin(record: Record) -> None:
    record.pools[2] = replace(record.pools[2], most=0)
    for pod in pods_of(record, "gpuod"):
        pod.bound = pod.node = pod.pool = pod.started = pod.ended = pod.how = None
    record.nodes = [node for node in record.nodes if node.pool != "gpuod"]
    for work in record.work:
        work.finished, work.times = None, 0


@pytest.mark.parametrize("silent", [True, False], ids=["silent", "refused"])
def test_a_good_drill_has_no_red_verdict(silent: bool) -> None:
    found = judged(records.spot_gone(silent=silent))
    assert {name for name, verdict in found.items() if verdict.ok is None} == {COST}
    assert not failed(found.values())


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (a_reason, {LOST, COMPLETE}),
        (no_pod_after_an_eviction, {LOST, COMPLETE}),
        (finished_twice, {TWICE}),
        (two_pods_at_once, {TWICE}),
        (a_notebook_for_a_while_on_spot, {PLATFORM}),
        (a_predictor_without_a_gpu_on_a_gpu_node, {PLATFORM}),
        (on_demand_from_the_begin, {SHARE, EARLY}),
        (on_demand_after_the_return, {SHARE, EARLY, BACK}),
        (late_on_demand, {WAIT, FALLBACK}),
        (two_moves_in_half_an_hour, {MOVES}),
        (more_lost_than_an_interval, {REPEATED}),
        (no_checkpoints, {REPEATED}),
        (a_pod_without_a_node, {WAIT, FALLBACK, COMPLETE}),
        (no_twin, {WAIT, FALLBACK, COMPLETE}),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_one_change_turns_the_verdicts_that_name_it(change: Callable[[Record], None], names: set[str]) -> None:
    record = records.spot_gone()
    change(record)
    assert red(record) == names


def test_a_refusal_without_a_pod_of_the_twin_names_the_setting() -> None:
    record = records.spot_gone()
    no_twin(record)
    assert "fallback[].onDemand.maxNodes above 0" in judged(record)[FALLBACK].why


def test_a_pool_at_its_maximum_is_named_and_not_red() -> None:
    record = records.spot_gone()
    record.pools[2] = replace(record.pools[2], most=6)
    record.work.append(Work("c/late", "training", 1300.0, 2400.0, 600.0))
    record.pods.append(
        Pod("c/late-0", "c/late", "training", "Job", 1, True, 1300.0, 4400.0, "gpuod-20", "gpuod", 4410.0)
    )
    found = judged(record)
    assert not failed(found.values())
    assert found[FULL].ok is None
    assert "gpuod at 6 nodes: 1 pod waited, up to 51.7 min" in found[FULL].measured
    assert "fallback[].onDemand.maxNodes" in found[FULL].why
    record.pools[2] = replace(record.pools[2], most=7)
    assert red(record) == {WAIT, FALLBACK}


def test_the_bound_of_a_restarted_timer_is_named_in_place_of_the_plain_one() -> None:
    """Requests for a pool that never comes, each before the last times out: recorded as 265 s in place of 90 s."""
    record = records.spot_gone(later=0)
    late = [pod for pod in pods_of(record, "gpuod") if pod.name.startswith("team-a/train-0")]
    given_up = records.GONE + 86 + records.PROVISION
    further = [records.GONE + 86 + each for each in (240.0, 480.0)]
    for pod in pods_of(record, "gpuod"):
        assert pod.bound
        pod.bound += 480
    for node in record.nodes:
        if node.pool == "gpuod":
            node.requested, node.ready = given_up + 480, given_up + 570
    record.events = [replace(event, at=event.at + 480) if event.at == given_up else event for event in record.events]
    assert red(record) == {WAIT, FALLBACK}
    record.nodes += [
        Node(f"never-{at}", "gpuspot", "1", at, gone=given_up + 480, why="never registered") for at in further
    ]
    found = judged(record)
    assert not failed(found.values())
    assert late
    assert (
        "2 further requests for the same pool restarted its timer, so the bound that holds is 20.3 min"
        in found[FALLBACK].why
    )
    assert "restarted 2 times" in found[FALLBACK].bound


def test_a_chain_of_two_spot_pools_may_take_two_provision_times() -> None:
    record = records.spot_gone()
    late_on_demand(record)
    assert red(record) == {WAIT, FALLBACK}
    record.pools[1] = replace(record.pools[1], fallback=("gpuspot2", "gpuod"))
    record.pools.append(replace(record.pools[1], name="gpuspot2", most=0, fallback=("gpuod",)))
    found = judged(record)
    assert red(record) == set()
    assert "2 x 10.0 min provision time + 2 x 10 s scan" in found[FALLBACK].bound


def test_pods_that_may_not_run_on_spot_may_ask_for_nodes_on_demand() -> None:
    record = records.spot_gone()
    on_demand_from_the_begin(record)
    for pod in record.pods:
        if pod.created == 5.0:
            pod.spot = False
    assert red(record) == set()


@pytest.mark.parametrize("reason", ["full", "unhealthy"])
def test_spot_that_cannot_grow_is_passed_over(reason: str) -> None:
    record = records.spot_gone()
    on_demand_from_the_begin(record)
    assert EARLY in red(record)
    if reason == "full":
        record.pools[1] = replace(record.pools[1], most=0)
    else:
        record.nodes += [Node(f"dead-{each}", "gpuspot", "1", -700.0, -650.0) for each in range(4)]
    assert EARLY not in red(record)
    assert SHARE not in red(record)


def test_a_place_that_was_free_on_demand_is_no_miss() -> None:
    record = records.spot_gone()
    node = next(node for node in record.nodes if node.pool == "gpuod")
    record.work.append(Work("c/quick", "trial", 3800.0, 60.0, None, 3990.0, times=1))
    record.pods.append(
        Pod(
            "c/quick-0",
            "c/quick",
            "trial",
            "Job",
            1,
            True,
            3800.0,
            3802.0,
            node.name,
            "gpuod",
            3805.0,
            3990.0,
            "succeeded",
        )
    )
    found = judged(record)
    assert found[SHARE].measured == "100.0% of 10 pods"
    assert "7 pods took places" not in found[SHARE].why
    assert "1 pod took places that were free on demand" in found[SHARE].why


def test_work_that_has_just_begun_or_still_runs_is_not_stuck() -> None:
    record = records.spot_gone()
    record.work.append(Work("c/new", "training", records.LENGTH - 60, 600.0, 60.0))
    record.pods.append(Pod("c/new-0", "c/new", "training", "Job", 1, True, records.LENGTH - 60))
    found = judged(record)
    assert found[COMPLETE].measured == "6 done, 4 running, 1 not yet due"
    assert not failed(found.values())


def test_an_upgrade_is_no_move() -> None:
    record = records.spot_gone()
    two_moves_in_half_an_hour(record)
    for node in record.nodes:
        if node.requested == records.BACK + 130:
            node.why = "upgraded"
    assert red(record) == set()


@pytest.mark.parametrize(
    ("scenario", "least", "ok"),
    [("week", 1000.0, True), ("week", 1.0, False), ("spot-gone", 1.0, None), ("week", 0.0, None), ("week", None, None)],
)
def test_the_cost_has_a_bound_in_drawn_weeks_only(scenario: str, least: float | None, ok: bool | None) -> None:
    record = records.spot_gone()
    record.scenario = scenario
    assert judged(record, None if least is None else best(least))[COST].ok is ok


def test_a_pool_without_a_price_has_no_cost() -> None:
    record = records.spot_gone()
    record.pools[1] = replace(record.pools[1], price=None)
    verdict = judged(record, best(1.0))[COST]
    assert (verdict.ok, verdict.measured) == (None, "not known")
    assert "gpuspot" in verdict.why


def test_gke_has_no_bound_of_time() -> None:
    record = records.spot_gone()
    late_on_demand(record)
    record.provider, record.settings = "gcp", {}
    found = judged(record)
    assert (found[WAIT].ok, found[FALLBACK].ok) == (None, None)
    assert "publishes no timers" in found[FALLBACK].why


def test_a_record_without_anything_has_verdicts() -> None:
    found = judged(records.empty())
    assert not failed(found.values())
    assert found[FALLBACK].ok is None


def test_back_offs_double_and_are_forgotten() -> None:
    """Recorded on cluster-autoscaler: 5 minutes, then 10; a failure within one changes nothing."""
    from sandbox.drill.checks.view import View

    record = records.empty(length=40_000.0)
    record.events = [Event(at, "backoff", "gpuspot", "") for at in (100.0, 200.0, 500.0, 1200.0, 20_000.0)]
    assert View(record).backoffs["gpuspot"] == [(100.0, 400.0), (500.0, 1100.0), (1200.0, 2400.0), (20_000.0, 20_300.0)]


def test_spot_capacity_counts_the_nodes_that_are_held() -> None:
    from sandbox.drill.checks.view import View

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
    assert [span(value) for value in (0, 45, 99.6, 936, 7200, 700_000)] == [
        "0 s",
        "45 s",
        "1.7 min",
        "15.6 min",
        "2.0 h",
        "8.1 days",
    ]
    assert [moment(value) for value in (5, 1286.4, 3605, 200_000)] == ["0:05", "21:26", "1:00:05", "2 d 7:33"]
