"""Drills in memory: what the real scheduler and controllers do for a drill's work, and fixed policies on the same work."""

from dataclasses import replace
from typing import Any

import pytest

from drill.in_memory.run_in_memory import run_in_memory
from drill.in_memory.stack import Stack
from drill.judge.outcome import ALONE, OURS, Outcome, outcome_of
from drill.tune.policies import (
    GREEDY,
    POLICIES,
    SPOT_ALONE,
    UNIFORM,
    compare_policies,
    run_policy,
    without_real_programs,
)
from drill.world.basis import Trial
from drill.world.record import Record
from drill.world.scenario import Scenario
from sandbox.base.errors import SandboxError
from tests.drill.changes import red
from tests.drill.in_memory_stack import stack

JOB = {"name": "train", "role": "training", "count": 2, "at": "1m", "runFor": "30m", "checkpointEvery": "5m"}
PLATFORM = {
    "name": "platform",
    "role": "platform",
    "kind": "Deployment",
    "count": 2,
    "gpus": 0,
    "namespace": "kubeflow",
}
NOTEBOOK = {"name": "notebook", "role": "notebook", "kind": "StatefulSet", "gpus": 0}
GONE = {"at": "0s", "capacity": {"nodes": 0}}


def scenario(*faults: dict[str, Any], work: Any = (JOB, PLATFORM, NOTEBOOK), **keys: Any) -> Scenario:
    return Scenario.model_validate(
        {"description": "", "length": "3h", "work": list(work), "faults": list(faults), **keys}
    )


def drilled(wanted: Scenario, on: Stack | None = None) -> Record:
    return run_in_memory(on or stack(), Trial(wanted, "test", 1))


def pools_of(record: Record, name: str) -> list[str | None]:
    return [pod.pool for pod in record.pods if name in pod.name]


def test_work_is_done_on_spot_and_the_rest_on_demand_and_idle_machines_go() -> None:
    record = drilled(scenario())
    assert red(record) == set()
    assert pools_of(record, "train") == ["t4", "t4"]
    assert set(pools_of(record, "platform") + pools_of(record, "notebook")) == {"general"}
    assert [work.times for work in record.work if work.needs] == [1, 1]
    # 30 s of age, 100 s of boot, 5 s until the device plugin runs, 10 s until it reports.
    assert {round(pod.bound - pod.created) for pod in record.pods if "train" in pod.name and pod.bound} == {145}
    assert [(node.pool, node.why) for node in record.nodes if node.gone] == [("t4", "scale-down")] * 2


def test_evicted_work_goes_on_from_its_checkpoint_and_is_done_once() -> None:
    record = drilled(scenario({"at": "20m", "capacity": {"nodes": 0, "within": "1m"}}))
    assert [pod.how for pod in record.pods if "train" in pod.name] == ["evicted", "evicted", "succeeded", "succeeded"]
    assert pools_of(record, "train")[2:] == ["t4od", "t4od"]
    assert [work.times for work in record.work if work.needs] == [1, 1]


@pytest.mark.parametrize(
    ("keys", "work", "saved"),
    [
        pytest.param({}, {}, True, id="saves within AKS' notice"),
        pytest.param({}, {"saveTakes": "24s"}, True, id="saves until its end"),
        pytest.param({}, {"saveTakes": "25s"}, False, id="saves too slowly"),
        pytest.param({"notice": "8s"}, {"saveTakes": "2s"}, True, id="a short notice and a quick save"),
        pytest.param({"notice": "7s"}, {"saveTakes": "2s"}, False, id="a notice that is too short"),
        pytest.param({"notice": "3s"}, {}, False, id="gone before AKS drains"),
    ],
)
def test_evicted_work_loses_nothing_where_a_save_fits_into_the_notice_else_at_most_an_interval(
    keys: dict[str, Any], work: dict[str, Any], saved: bool
) -> None:
    gone = {"at": "20m", "capacity": {"nodes": 0, "within": "1m"}}
    record = drilled(scenario(gone, work=({**JOB, **work}, PLATFORM, NOTEBOOK), **keys))
    lost = [pod.lost for pod in record.pods if pod.how == "evicted"]
    assert len(lost) == 2
    assert all(each == 0 if saved else 0 < each <= 300 for each in lost), lost
    assert [work.times for work in record.work if work.needs] == [1, 1]


@pytest.mark.parametrize(
    ("shortage", "least", "most"), [("at-once", 40, 160), ("20s", 60, 190), ("provision-time", 630, 800)]
)
def test_the_signal_of_a_shortage_decides_the_wait(shortage: str, least: float, most: float) -> None:
    record = drilled(scenario(GONE, shortage=shortage))
    waits = [pod.bound - pod.created for pod in record.pods if "train" in pod.name and pod.bound]
    assert pools_of(record, "train") == ["t4od", "t4od"]
    assert all(least < wait < most for wait in waits), waits
    assert record.shortage == shortage
    # What never came costs nothing.
    assert outcome_of(record).usd == pytest.approx(sum(_hours(record, "t4od")), abs=0.01)


def _hours(record: Record, pool: str) -> list[float]:
    return [((node.gone or 10800) - node.requested) / 3600 for node in record.nodes if node.pool == pool]


@pytest.mark.parametrize(
    ("faults", "pool"),
    [
        ((), "t4"),
        (({"at": "0s", "scanBeforeCordon": {"pool": "t4"}},), "t4od"),
        (({"at": "0s", "scanBeforeCordon": {"pool": "t4"}}, {"at": "25m", "restartAutoscaler": True}), "t4"),
    ],
    ids=["never", "scanned", "restarted"],
)
def test_a_scan_between_taint_and_cordon_takes_a_pool_from_the_autoscaler_until_it_is_restarted(
    faults: tuple[dict[str, Any], ...], pool: str
) -> None:
    """mixed_nodeinfos_processor.go keeps the last stable node of a group as its template, and an unknown taint of it."""
    work = [{**JOB, "count": 1}, {**JOB, "name": "later", "count": 1, "at": "30m"}]
    evicted = {"at": "20m", "evict": {"pool": "t4"}}
    record = drilled(scenario(evicted, *faults, work=work))
    assert pools_of(record, "later") == [pool]


def test_a_work_that_only_real_programs_can_judge_is_refused() -> None:
    workflow = {"name": "pipe", "role": "pipeline", "kind": "Workflow", "runFor": "5m"}
    with pytest.raises(SandboxError, match="sandbox drill"):
        drilled(scenario(work=[workflow]))


def test_a_pipeline_is_compared_by_its_step_and_without_what_the_guard_refuses() -> None:
    work = [
        {"name": "pipe", "role": "pipeline", "kind": "Workflow", "runFor": "5m"},
        {"name": "greedy", "role": "notebook", "kind": "StatefulSet", "greedy": True},
    ]
    record = drilled(without_real_programs(scenario(work=work)))
    assert [(work.name, work.times) for work in record.work] == [("team-a/pipe-0/0", 1)]


def test_a_machine_takes_as_many_pods_as_it_has_gpus() -> None:
    """Four pods for two machines of the twin: two wait until the first have ended."""
    record = drilled(scenario(GONE, work=[{**JOB, "count": 4}], shortage="at-once"), stack(twin=2))
    bound = sorted(pod.bound or 0.0 for pod in record.pods)
    assert bound[2] - bound[1] > 1700
    assert [work.times for work in record.work] == [1] * 4


def outcomes(*faults: dict[str, Any], on: Stack | None = None, **keys: Any) -> dict[str, Outcome]:
    wanted = scenario(*faults, work=[{**JOB, "count": 4}], shortage="at-once", **keys)
    return {row.policy: row.outcome for row in compare_policies(on or stack(), Trial(wanted, "test", 1))}


def test_policies_do_the_same_work() -> None:
    found = outcomes()
    assert list(found) == list(POLICIES)
    assert found[ALONE].on_spot == 0.0
    assert found[OURS].on_spot == found[SPOT_ALONE].on_spot == found[GREEDY].on_spot == found[UNIFORM].on_spot == 1.0
    assert found[OURS].usd == pytest.approx(found[GREEDY].usd)
    assert found[OURS].usd == pytest.approx(0.4 * (found[ALONE].usd or 0.0), rel=0.02)


def test_without_spot_each_policy_shows_what_it_is() -> None:
    found = outcomes(GONE)
    assert (found[SPOT_ALONE].usd, found[SPOT_ALONE].unfinished) == (0.0, 4)
    # On demand alone has room for all; the stack's twin for two.
    assert found[ALONE].longest_wait < 200 < 1700 < found[OURS].longest_wait
    assert (found[ALONE].unfinished, found[OURS].unfinished) == (0, 0)
    # Behind its pace from the begin, and nothing on spot: on demand.
    assert (found[UNIFORM].on_spot, found[UNIFORM].unfinished) == (0.0, 0)


def test_uniform_progress_waits_for_spot_while_it_is_ahead_and_is_in_time() -> None:
    """Spot is there for 25 of 30 minutes of work, and comes again an hour later, after the deadline."""
    found = outcomes({"at": "28m", "capacity": {"nodes": 0}}, {"at": "90m", "capacity": {"nodes": None}})
    assert 0.5 < (found[UNIFORM].on_spot or 0.0) < 1.0
    assert found[UNIFORM].unfinished == 0


def test_greedy_puts_spot_before_on_demand_whatever_it_costs() -> None:
    behind = stack().with_order(["general", "t4od", "t4"])
    found = outcomes(on=behind)
    assert (found[OURS].on_spot, found[GREEDY].on_spot) == (pytest.approx(0.5), 1.0)


def test_back_to_spot_moves_a_pod_that_keeps_checkpoints_once_it_is_an_hour_old() -> None:
    long = {**JOB, "count": 1, "runFor": "4h"}
    short = {**JOB, "name": "short", "count": 1, "at": "80m", "runFor": "10m"}
    faults = [GONE, {"at": "70m", "capacity": {"nodes": None}}]
    wanted = scenario(*faults, work=[long, short], shortage="at-once", length="6h")
    stays = run_policy(stack(twin=1), Trial(wanted, "test", 1))
    moves = run_policy(replace(stack(twin=1), back_to_spot=True), Trial(wanted, "test", 1))
    assert pools_of(stays, "train") == ["t4od"]
    assert pools_of(moves, "train") == ["t4od", "t4"]
    assert (outcome_of(moves).usd or 0.0) < (outcome_of(stays).usd or 0.0)
