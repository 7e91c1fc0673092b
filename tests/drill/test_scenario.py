"""Scenarios: those of the project, and files that are none."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from drill.world import scenario
from sandbox.base.errors import SandboxError

WORK = {"name": "sweep", "role": "trial", "runFor": "10m"}

SERVED = {"name": "serve", "role": "predictor", "kind": "Deployment"}
LATER = {"at": "5m", "until": "6m"}


@pytest.mark.parametrize("name", scenario.scenario_names())
def test_every_scenario_can_be_read_and_does_something(name: str) -> None:
    found = scenario.load_scenario(name)
    assert found.work
    assert found.description.endswith(".")


def test_the_default_is_a_scenario() -> None:
    assert scenario.DEFAULT in scenario.scenario_names()


def load(folder: Path, **changes: Any) -> scenario.Scenario:
    content = {"description": "A test.", "length": "1h", "work": [WORK], **changes}
    file = folder / "own.yaml"
    file.write_text(yaml.safe_dump(content))
    return scenario.load_scenario(str(file))


def test_a_file_is_a_scenario(tmp_path: Path) -> None:
    found = load(tmp_path, faults=[{"at": "10m", "capacity": {"nodes": 0, "within": "90s"}}])
    assert found.length == 3600
    assert found.work[0].run_for == (600, 600)
    assert found.faults[0].capacity is not None
    assert found.faults[0].capacity.within == 90


@pytest.mark.parametrize(
    ("changes", "place", "words"),
    [
        ({"length": "soon"}, "length", "'soon' is not a time: write it such as 90s, 10m, 2h or 7d"),
        ({"length": "40d"}, "length", "longer than 31 days"),
        ({"colour": 1}, "colour", "Extra inputs are not permitted"),
        ({"work": [{**WORK, "runFor": "20m-10m"}]}, "work[0].runFor", "write the shorter first"),
        (
            {"work": [{**WORK, "kind": "StatefulSet"}]},
            "work[0]",
            "a Job or a Workflow has `runFor`, and nothing else has",
        ),
        ({"work": [{**WORK, "count": "50% of gold"}]}, "work[0].count", "`100% of spot`"),
        ({"work": [{**WORK, "count": -1}]}, "work[0].count", "-1 is not a number up to 20000"),
        ({"work": [WORK, WORK]}, "the file", "the name sweep is there twice"),
        ({"faults": [{"at": "10m", "capacity": {"nodes": -1}}]}, "faults[0].capacity", "write 0 for none"),
        ({"faults": [{"at": "-5m", "evict": {}}]}, "faults[0].at", "is not a time"),
        ({"faults": [{"at": "2h", "evict": {}}]}, "the file", "faults[0].at: after the end"),
        ({"faults": [{"at": "5m"}]}, "faults[0]", "write exactly one of capacity, evict"),
        ({"faults": [{"at": "5m", "until": "5m", "silent": {}}]}, "faults[0]", "`until` is not after `at`"),
        ({"length": "0s"}, "length", "'0s' is no time: write such as 90m or 2h"),
        ({"work": [{**WORK, "name": "A b"}]}, "work[0].name", "should match pattern"),
        ({"work": [{**WORK, "drawn": True}]}, "work[0]", "`drawn` draws around `every`"),
        ({"work": [{**SERVED, "parallelism": 2}]}, "work[0]", "`parallelism` does nothing for a Deployment"),
        ({"work": [{**WORK, "kind": "Workflow", "pods": 2}]}, "work[0]", "`pods` does nothing for a Workflow"),
        (
            {"work": [{**WORK, "kind": "Workflow", "parallelism": 1}]},
            "work[0]",
            "`parallelism` does nothing for a Workflow",
        ),
        ({"retries": "often"}, "retries", "should be a valid boolean"),
        ({"work": [{**SERVED, "checkpointEvery": "5m"}]}, "work[0]", "`checkpointEvery` does nothing for a Deployment"),
        ({"faults": [{"at": "5m", "evict": {"nodes": -1}}]}, "faults[0].evict.nodes", "-1 is no number of nodes"),
        ({"faults": [{"at": "5m", "evict": {"nodes": 0}}]}, "faults[0].evict.nodes", "write such as 2, or all"),
        ({"faults": [{"at": "5m", "unready": {"nodes": -1}}]}, "faults[0].unready.nodes", "-1 is no number of nodes"),
        ({"faults": [{**LATER, "capacity": {"nodes": 0}}]}, "faults[0]", "a later fault `capacity: {nodes: null}`"),
        ({"faults": [{**LATER, "evict": {}}]}, "faults[0]", "`until` does nothing for `evict`"),
        ({"faults": [{**LATER, "upgrade": {}}]}, "faults[0]", "`until` does nothing for `upgrade`"),
        ({"faults": [{**LATER, "restartAutoscaler": True}]}, "faults[0]", "nothing for `restartAutoscaler`"),
        ({"faults": [{"at": "5m", "silent": {"nodes": 2}}]}, "faults[0]", "`silent.nodes` does nothing"),
        ({"faults": [{"at": "5m", "refuse": {"nodes": 2}}]}, "faults[0]", "`refuse.nodes` does nothing"),
        ({"faults": [{"at": "5m", "slow": {}}]}, "faults[0]", "`slow.seconds` is missing"),
        ({"faults": [{"at": "5m", "latePlugin": {}}]}, "faults[0]", "`latePlugin.seconds` is missing"),
        ({"faults": [{"at": "5m", "unready": {"seconds": "5m"}}]}, "faults[0]", "`unready.seconds` does nothing"),
    ],
)
def test_a_problem_is_said_with_its_place(changes: dict[str, Any], place: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(SandboxError) as refused:
        load(tmp_path, **changes)
    line = str(refused.value).splitlines()[1]
    assert line.startswith(f"  {place}: ")
    assert words in line


def test_all_problems_are_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(SandboxError) as refused:
        load(tmp_path, length="soon", work=[{**WORK, "count": -1}])
    assert len(str(refused.value).splitlines()) == 3


def test_an_unknown_scenario_names_the_known_ones() -> None:
    with pytest.raises(SandboxError, match=r"there is no scenario 'storn', nor a file.*there are: burst-from-zero, "):
        scenario.load_scenario("storn")


@pytest.mark.parametrize(
    ("place", "capacity"), [({}, "spot"), ({"pool": "t4od"}, "*"), ({"pool": "t4", "capacity": "spot"}, "spot")]
)
def test_a_fault_is_about_spot_unless_a_pool_is_named(place: dict[str, Any], capacity: str, tmp_path: Path) -> None:
    refused = load(tmp_path, faults=[{"at": "5m", "refuse": place}]).faults[0].refuse
    assert refused is not None
    assert refused.capacity == capacity
