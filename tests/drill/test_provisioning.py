"""Drills on Karpenter's own code: what it decides by the drill's clock, from machines that come to work that goes back to spot."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from drill.in_memory.run_in_memory import kept, placed, run_in_memory
from drill.in_memory.stack import Stack
from drill.judge.outcome import outcome_of
from drill.play.drill import Drill
from drill.world.basis import Trial
from drill.world.record import Record
from sandbox.base.errors import SandboxError
from sandbox.toolchain.programs import ensure
from tests.drill.provisioned_stack import stack
from tests.drill.test_in_memory import GONE, JOB, scenario

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.tools]

HOUR = 3600.0
BACK = {"at": "10m", "capacity": {"nodes": 4}}
LONG = {**JOB, "count": 1, "runFor": "4h"}
KEPT = {**LONG, "name": "kept"}


@pytest.fixture(scope="module")
def provisioned() -> Iterator[Stack]:
    program = ensure(["karpenter"], print)["karpenter"]
    with TemporaryDirectory(prefix="karp") as folder:
        yield stack(program, Path(folder))


def drilled(on: Stack, *faults: dict[str, Any], work: Any = (JOB,), length: str = "2h") -> Record:
    return run_in_memory(on, Trial(scenario(*faults, work=work, length=length), "test", 1))


def grown(record: Record) -> list[tuple[float, str, str]]:
    return [(event.at, event.pool, event.text) for event in record.events if event.kind == "scale-up"]


def test_work_runs_on_spot_and_machines_without_work_go(provisioned: Stack) -> None:
    record = drilled(provisioned)
    assert [(pod.pool, pod.how) for pod in record.pods] == [("t4", "succeeded")] * 2
    assert {node.why for node in record.nodes if node.pool == "t4"} == {"scale-down"}
    # A minute without a pod (`consolidateAfter`), a look, 15 s until it is validated, and the shortest drain.
    ended = max(pod.ended or 0.0 for pod in record.pods)
    assert all(60 < (node.gone or 0.0) - ended <= 110 for node in record.nodes if node.pool == "t4")
    assert record.autoscaler.startswith("Karpenter")
    assert record.settings["consolidateAfter"] == "1m"


def test_refused_spot_is_asked_for_without_a_zone_and_then_on_demand(provisioned: Stack) -> None:
    record = drilled(provisioned, GONE, work=[{**JOB, "count": 1}])
    pools = [pool for _, pool, _ in grown(record)]
    assert pools == ["t4", "t4", "t4od"]
    zones = [text.split(" in ")[1] for _, _, text in grown(record)]
    assert zones[0].startswith("westeurope-")
    assert zones[1] == "0, spot"
    # Each of the two refusals is known after 20 s, and Karpenter looks at a waiting pod every 10 s.
    assert grown(record)[2][0] - record.pods[0].created <= 2 * (20 + 10) + 5
    assert outcome_of(record).on_spot == 0


def test_work_goes_back_to_spot_after_the_hour_and_work_that_is_kept_stays(provisioned: Stack) -> None:
    def admit(_: Drill, pod: dict[str, Any]) -> dict[str, Any]:
        own = placed(pod, provisioned.placement)
        return kept(own) if "kept" in pod["metadata"]["name"] else own

    wanted = scenario(GONE, BACK, work=[LONG, KEPT], length="6h")
    record = run_in_memory(provisioned, Trial(wanted, "test", 1), admit)
    first, second = (pod for pod in record.pods if "train" in pod.name)
    refused = grown(record)[1][0] + 20
    assert (first.pool, first.how, second.pool, second.how) == ("t4od", "drained", "t4", "succeeded")
    assert first.ended
    assert second.started
    # Karpenter looks again after five minutes in which nothing changed (state/cluster.go, ConsolidationState).
    assert refused + HOUR < first.ended <= refused + HOUR + 300 + 15 + 130
    assert second.started - first.ended < 60
    # Stopped with its time to save.
    assert first.lost == 0
    (stayed,) = (pod for pod in record.pods if "kept" in pod.name)
    assert (stayed.pool, stayed.how) == ("t4od", "succeeded")


def test_a_shorter_back_off_lets_work_go_back_earlier(provisioned: Stack) -> None:
    assert provisioned.engine
    quick = replace(provisioned, engine=replace(provisioned.engine, left_alone=300.0))
    record = drilled(quick, GONE, BACK, work=[LONG], length="6h")
    moved = next(pod for pod in record.pods if pod.how == "drained")
    assert moved.ended
    assert moved.ended < 1500


def test_a_machine_that_never_registers_is_replaced_after_a_quarter_of_an_hour(provisioned: Stack) -> None:
    record = drilled(provisioned, {"at": "0s", "silent": {"pool": "t4"}, "until": "10m"}, work=[{**JOB, "count": 1}])
    first, second = (node for node in record.nodes if node.pool == "t4")
    assert first.registered is None
    assert first.gone is not None
    assert 900 <= first.gone - first.requested <= 960
    assert second.ready


def test_evicted_work_goes_on_elsewhere(provisioned: Stack) -> None:
    record = drilled(provisioned, {"at": "20m", "capacity": {"nodes": 0, "within": "1m"}}, work=[{**JOB, "count": 1}])
    first, second = (pod for pod in record.pods if "train" in pod.name)
    assert (first.pool, second.pool, second.how) == ("t4", "t4od", "succeeded")
    assert [work.times for work in record.work if work.needs] == [1]


def test_the_same_seed_gives_the_same_outcome(provisioned: Stack) -> None:
    once, again = (outcome_of(drilled(provisioned, GONE, BACK)) for _ in range(2))
    assert once == again


def test_a_program_that_ends_is_an_error_with_its_last_words(provisioned: Stack) -> None:
    assert provisioned.engine
    broken = replace(provisioned.engine, objects=({"kind": "Ghost", "metadata": {"name": "g"}},))
    with pytest.raises(SandboxError, match=r'Karpenter has ended: .*"Ghost" is no kind'):
        drilled(replace(provisioned, engine=broken))
