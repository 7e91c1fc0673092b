"""Each verdict, green on a record of a good drill and red on the same record with one thing changed."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from drill.judge.outcome import Saved
from drill.judge.verdicts import failed
from drill.world.record import Event, Node, Record, Work
from tests.drill import changes, records
from tests.drill.changes import best, judged, pods_of, red


@pytest.mark.parametrize("silent", [True, False], ids=["silent", "refused"])
def test_a_good_drill_has_no_red_verdict(silent: bool) -> None:
    found = judged(records.spot_gone(silent=silent))
    assert {name for name, verdict in found.items() if verdict.ok is None} == {changes.COST}
    assert not failed(found.values())


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (changes.a_reason, {changes.LOST, changes.COMPLETE}),
        (changes.no_pod_after_an_eviction, {changes.LOST, changes.COMPLETE}),
        (changes.finished_twice, {changes.TWICE}),
        (changes.two_pods_at_once, {changes.TWICE}),
        (changes.a_notebook_for_a_while_on_spot, {changes.PLATFORM}),
        (changes.a_predictor_without_a_gpu_on_a_gpu_node, {changes.PLATFORM}),
        (changes.on_demand_from_the_begin, {changes.SHARE, changes.EARLY}),
        (changes.on_demand_after_the_return, {changes.SHARE, changes.EARLY, changes.BACK}),
        (changes.late_on_demand, {changes.WAIT, changes.FALLBACK}),
        (changes.two_moves_in_half_an_hour, {changes.MOVES}),
        (changes.more_lost_than_an_interval, {changes.REPEATED}),
        (changes.no_checkpoints, {changes.REPEATED}),
        (changes.a_pod_without_a_node, {changes.WAIT, changes.FALLBACK, changes.COMPLETE}),
        (changes.no_twin, {changes.WAIT, changes.FALLBACK, changes.COMPLETE}),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_one_change_turns_the_verdicts_that_name_it(change: Callable[[Record], None], names: set[str]) -> None:
    record = records.spot_gone()
    change(record)
    assert red(record) == names


def test_a_refusal_without_a_pod_of_the_twin_names_the_setting() -> None:
    record = records.spot_gone()
    changes.no_twin(record)
    assert "fallback[].onDemand.maxNodes above 0" in judged(record)[changes.FALLBACK].why


def test_the_bound_of_a_restarted_timer_is_named_in_place_of_the_plain_one() -> None:
    """Requests for a pool that never comes, each before the last times out: recorded as 265 s in place of 90 s."""
    record = records.spot_gone(later=0)
    given_up = records.GONE + 86 + records.PROVISION
    further = [records.GONE + 86 + each for each in (240.0, 480.0)]
    for pod in pods_of(record, "gpuod"):
        assert pod.bound
        pod.bound += 480
    for node in record.nodes:
        if node.pool == "gpuod":
            node.requested, node.ready = given_up + 480, given_up + 570
    record.events = [replace(each, at=each.at + 480) if each.at == given_up else each for each in record.events]
    assert red(record) == {changes.WAIT, changes.FALLBACK}
    never = {"gone": given_up + 480, "why": "never registered"}
    record.nodes += [Node(f"never-{at}", "gpuspot", "1", at, **never) for at in further]  # type: ignore[arg-type]
    assert "restarted 2 times" in judged(record)[changes.FALLBACK].why
    record.accepted_wait = 3600.0
    found = judged(record)
    assert not failed(found.values())
    words = "2 further requests for the same pool restarted its timer; so the bound that holds is 20.3 min"
    assert words in found[changes.FALLBACK].why
    # One more finds the pool at its maximum when that bound is over; when the plain one was, nobody had fallen back yet.
    record.pools[2] = replace(record.pools[2], most=6)
    records.add_late(record, records.GONE + 90, 3690.0)
    found = judged(record)
    assert not failed(found.values())
    assert "gpuod at 6 nodes: 1 pod waited" in found[changes.FULL].measured


def test_a_chain_of_two_spot_pools_may_take_two_provision_times() -> None:
    record = records.spot_gone()
    changes.late_on_demand(record)
    assert red(record) == {changes.WAIT, changes.FALLBACK}
    record.pools[1] = replace(record.pools[1], fallback=("gpuspot2", "gpuod"))
    record.pools.append(replace(record.pools[1], name="gpuspot2", most=0, fallback=("gpuod",)))
    assert "2 x 10.0 min provision time + 2 x 10 s scan" in judged(record)[changes.FALLBACK].why
    record.accepted_wait = 3600.0
    assert judged(record)[changes.FALLBACK].state == "holds"


def test_pods_that_may_not_run_on_spot_may_ask_for_nodes_on_demand() -> None:
    record = records.spot_gone()
    changes.on_demand_from_the_begin(record)
    for pod in record.pods:
        if pod.created == 5.0:
            pod.spot = False
    assert red(record) == set()


@pytest.mark.parametrize("reason", ["full", "unhealthy"])
def test_spot_that_cannot_grow_is_passed_over(reason: str) -> None:
    record = records.spot_gone()
    changes.on_demand_from_the_begin(record)
    assert changes.EARLY in red(record)
    if reason == "full":
        record.pools[1] = replace(record.pools[1], most=0)
    else:
        record.nodes += [Node(f"dead-{each}", "gpuspot", "1", -700.0, -650.0) for each in range(4)]
    assert changes.EARLY not in red(record)
    assert changes.SHARE not in red(record)


@pytest.mark.parametrize(("after", "names"), [(250.0, set()), (350.0, {changes.EARLY})], ids=["within", "after"])
def test_a_back_off_lasts_five_minutes(after: float, names: set[str]) -> None:
    """Within it pods go on demand at once; after it spot is asked first, whether it comes or not."""
    record = records.spot_gone()
    asked = records.GONE + 86 + records.PROVISION + after
    record.nodes.append(Node("more", "gpuod", "1", asked, asked + 60, asked + 90))
    record.work.append(Work("c/more", "trial", asked - 30, 3000.0, 60.0))
    times = (asked - 30, asked + 92, "more", "gpuod", asked + 95)
    record.pods.append(records.training("c/more", *times, role="trial"))
    assert red(record) == names


def test_a_node_that_an_upgrade_adds_is_not_the_autoscalers() -> None:
    record = records.spot_gone()
    record.nodes.append(Node("surge", "gpuod", "1", 50.0, 110.0, 140.0))
    assert red(record) == {changes.EARLY}
    for node in record.nodes:
        if node.pool == "gpuod" and node.gone is not None:
            node.why = "upgraded"
    assert red(record) == set()
    record.events.append(Event(50.0, "scale-up", "gpuod", "Scale-up: gpuod 0->1", 1))
    assert red(record) == {changes.EARLY}


def test_a_request_may_be_noted_before_the_back_off_of_the_same_loop() -> None:
    record = records.spot_gone()
    for node in record.nodes:
        if node.pool == "gpuod":
            node.requested -= 0.6
    assert red(record) == set()


def test_a_place_that_was_free_on_demand_is_no_miss() -> None:
    record = records.spot_gone()
    node = next(node for node in record.nodes if node.pool == "gpuod")
    record.work.append(Work("c/quick", "trial", 3800.0, 60.0, None, 3990.0, times=1))
    times = (3800.0, 3802.0, node.name, "gpuod", 3805.0, 3990.0, "succeeded")
    record.pods.append(records.training("c/quick", *times, role="trial"))
    found = judged(record)[changes.SHARE]
    assert found.measured == "59% of 17 pods; 100.0% of 10 for which there was spot"
    assert found.why == "Of the others 1 took free places on demand and for 6 there was none, or they got no node."


def test_work_that_has_just_begun_or_still_runs_is_not_stuck() -> None:
    record = records.spot_gone()
    record.work.append(Work("c/new", "training", records.LENGTH - 60, 600.0, 60.0))
    record.pods.append(records.training("c/new", records.LENGTH - 60))
    found = judged(record)
    assert found[changes.COMPLETE].measured == "6 done, 4 running, 1 not yet due"
    assert not failed(found.values())


def test_an_upgrade_is_no_move() -> None:
    record = records.spot_gone()
    changes.two_moves_in_half_an_hour(record)
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
    assert judged(record, None if least is None else best(least))[changes.COST].ok is ok


def test_a_pool_without_a_price_has_no_cost() -> None:
    record = records.spot_gone()
    record.pools[1] = replace(record.pools[1], price=None)
    verdict = judged(record, best(1.0))[changes.COST]
    assert (verdict.ok, verdict.measured) == (None, "not known")
    assert "gpuspot" in verdict.why


def test_spot_that_costs_more_than_on_demand_alone_is_red_and_says_it() -> None:
    record = records.spot_gone()
    record.scenario = "week"
    found = judged(record, best(1000.0), Saved(214.0, 175.0))[changes.COST]
    assert found.state == "red"
    assert "22% more than on demand alone" in found.measured
    assert (
        "12% saved against on demand alone" in judged(record, best(1000.0), Saved(168.0, 191.0))[changes.COST].measured
    )


def test_work_of_a_week_that_is_done_too_late_is_red() -> None:
    record = records.spot_gone()
    record.scenario = "week"
    assert judged(record)[changes.SLOW].ok
    late = Work("c/late", "training", 0.0, 600.0, None, 600 * 2 + 900 + 60.0, times=1)
    record.work.append(late)
    found = judged(record)[changes.SLOW]
    assert found.state == "red"
    assert "c/late by 60 s" in found.why
    assert "3.6 (worst)" in found.measured
    record.scenario = "spot-gone"
    assert judged(record)[changes.SLOW].state == "note"


def test_a_record_without_anything_has_verdicts() -> None:
    found = judged(records.empty())
    assert not failed(found.values())
    assert found[changes.FALLBACK].ok is None
