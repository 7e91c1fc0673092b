"""Spot capacity over time: steps, traces of the published shape, and scenarios that do not fit a stack."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drill.world.capacity import MOST_BYTES, Capacity, check_capacity, read_trace
from drill.world.fitting import require_fit
from drill.world.record import Pool, Step
from drill.world.scenario import Scenario
from sandbox.base.errors import SandboxError

ZONAL = Pool("t4", "T4", "spot", gpus=1, least=0, most=8, zones=("eu-1", "eu-2"))
ANYWHERE = Pool("a100", "A100", "spot", gpus=1, least=0, most=4)
TWIN = Pool("t4-ondemand", "T4", "on-demand", gpus=1, least=0, most=2)
GENERAL = Pool("general", "D8", "on-demand", gpus=0, least=0, most=6)

steps = st.lists(
    st.builds(
        Step,
        at=st.integers(0, 9).map(float),
        machine=st.sampled_from(["T4", "A100", "*"]),
        zone=st.sampled_from(["eu-1", "eu-2", "*"]),
        nodes=st.none() | st.integers(0, 5),
    ),
    max_size=8,
)


def test_the_last_step_that_matches_holds() -> None:
    first, rest = Step(60, "T4", "eu-1", 0), [Step(90, "T4", "eu-1", None), Step(95, "*", "eu-1", 1)]
    capacity = Capacity([first, Step(0, "*", "*", 5), Step(30, "T4", "*", 2), *rest])
    assert [capacity.at("T4", "eu-1", now) for now in (0, 29, 30, 60, 89.9, 90, 95)] == [5, 5, 2, 0, 0, None, 1]
    assert [capacity.at("T4", "eu-2", now) for now in (0, 30, 95)] == [5, 2, 2]
    assert capacity.at("A100", "eu-2", 95) == 5
    assert [step.at for step in capacity.changes()] == [0, 30, 60, 90, 95]


@settings(max_examples=50)
@given(steps, st.sampled_from(["T4", "A100"]), st.sampled_from(["eu-1", "eu-2"]), st.integers(0, 10))
def test_a_look_up_is_the_last_matching_line(steps: list[Step], machine: str, zone: str, now: int) -> None:
    found = None
    for step in sorted(steps, key=lambda step: step.at):
        if step.at <= now and step.machine in ("*", machine) and step.zone in ("*", zone):
            found = step.nodes
    assert Capacity(steps).at(machine, zone, now) == found


def test_zones_add_up() -> None:
    capacity = Capacity(
        [Step(0, "T4", "eu-1", 3), Step(0, "T4", "eu-2", 4), Step(5, "T4", "eu-2", None), Step(0, "A100", "*", 2)]
    )
    assert capacity.total("T4", ("eu-1", "eu-2"), 0) == 7
    assert capacity.total("T4", (), 0) == 7, "the cloud chooses among the zones that are named"
    assert capacity.total("T4", ("eu-1", "eu-2"), 5) is None
    assert capacity.total("A100", (), 0) == 2


WHOLE = "write a whole number of nodes, or null for no bound"
NO_POOL = "which no spot pool has: write A100 or T4, or * for all"
NO_ZONE = "in which no pool takes T4: write eu-1 or eu-2, or * for all"
WRONG = {
    "negative": (Step(0, "T4", "*", -1), "capacity[0].nodes is -1: write 0 for none, or null for no bound"),
    "past": (Step(-5, "T4", "*", 1), "capacity[0].at is -5, which is in the past: write 0 or more"),
    "NaN": (Step(float("nan"), "T4", "*", 1), "capacity[0].at is nan: write seconds from the drill's begin"),
    "half a node": (Step(0, "T4", "*", 1.5), f"capacity[0].nodes is 1.5: {WHOLE}"),  # type: ignore[arg-type]
    "true": (Step(0, "T4", "*", True), f"capacity[0].nodes is True: {WHOLE}"),
    "machine": (Step(0, "V100", "*", 1), f"capacity[0].machine is 'V100', {NO_POOL}"),
    "on-demand machine": (Step(0, "D8", "*", 1), f"capacity[0].machine is 'D8', {NO_POOL}"),
    "zone": (Step(0, "T4", "eu-3", 1), f"capacity[0].zone is 'eu-3', {NO_ZONE}"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_step_is_refused_in_words(wrong: str) -> None:
    step, message = WRONG[wrong]
    with pytest.raises(SandboxError) as refused:
        check_capacity([step], [ZONAL, ANYWHERE, TWIN, GENERAL])
    assert str(refused.value).splitlines() == ["1 problem in the capacity; the stack is as it was:", f"  {message}"]


def test_all_problems_are_named_at_once() -> None:
    wrong = [Step(0, "T4", "*", 1), Step(-1, "X", "*", -1), *[Step(0, "T4", "eu-9", 1)] * 30]
    with pytest.raises(SandboxError) as refused:
        check_capacity(wrong, [ZONAL], path="steps", now=60)
    lines = str(refused.value).splitlines()
    assert lines[0] == "64 problems in the capacity; the stack is as it was:"
    assert lines[1] == "  steps[0].at is 0, which is in the past: write 60 or more"
    assert [line.split()[0] for line in lines[2:5]] == ["steps[1].at", "steps[1].nodes", "steps[1].machine"]
    assert lines[-1] == "  and 44 more"


def test_a_good_step_is_taken() -> None:
    taken = [Step(0, "T4", "eu-1", 3), Step(0, "A100", "eu-7", 0), Step(1, "*", "*", None)]
    assert check_capacity(taken, [ZONAL, ANYWHERE]).changes() == taken, "a pool without zones may get any"


def test_a_stack_without_spot_has_no_capacity() -> None:
    with pytest.raises(SandboxError, match="no spot pool; add `capacity: spot` to a pool"):
        check_capacity([], [TWIN, GENERAL])


NC4_SPOT = Pool("t4", "NC4", "spot", 1, 0, 8, ("eu-1", "eu-2"))
NC4_TWIN = Pool("t4od", "NC4", "on-demand", 1, 0, 2)


def scenario(*faults: dict[str, Any]) -> Scenario:
    work = [{"name": "w", "role": "trial", "runFor": "10m"}]
    return Scenario.model_validate({"description": "A.", "length": "1h", "work": work, "faults": list(faults)})


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ({"capacity": {"machine": "A100"}}, "faults[0].capacity.machine: the stack has no 'A100'; it has NC4"),
        ({"capacity": {"zone": "eu-3"}}, "faults[0].capacity.zone: the stack has no 'eu-3'; it has eu-1, eu-2"),
        ({"evict": {"pool": "t4od"}}, "faults[0].evict.pool: the stack has no 't4od'; it has t4"),
        ({"evict": {"zone": "x"}}, "faults[0].evict.zone: the stack has no 'x'; it has eu-1, eu-2"),
        ({"silent": {"pool": "gone"}}, "faults[0].silent.pool: the stack has no 'gone'; it has t4, t4od"),
        (
            {"latePlugin": {"pool": "gone", "seconds": "1m"}},
            "faults[0].latePlugin.pool: the stack has no 'gone'; it has t4, t4od",
        ),
        ({"capacity": {"machine": "first"}}, "faults[0].capacity.machine: the stack has no 'first'; it has NC4"),
        ({"evict": {"pool": "first"}}, "faults[0].evict.pool: the stack has no 'first'; it has t4"),
        ({"evict": {"zone": "first"}}, "faults[0].evict.zone: the stack has no 'first'; it has eu-1, eu-2; '*' is all"),
        ({"refuse": {"pool": "first"}}, "faults[0].refuse.pool: the stack has no 'first'; it has t4, t4od"),
        (
            {"refuse": {"pool": "t4od", "capacity": "spot"}},
            "faults[0].refuse.capacity: pool 't4od' has nothing spot: leave `capacity` out, or write '*'",
        ),
    ],
)
def test_names_that_the_stack_does_not_have_are_refused(fault: dict[str, Any], problem: str) -> None:
    with pytest.raises(SandboxError) as refused:
        require_fit(scenario({"at": "1m", **fault}), [NC4_SPOT, NC4_TWIN])
    assert problem in str(refused.value)


def test_names_that_it_has_and_words_for_all_of_them_are_taken() -> None:
    faults: tuple[dict[str, Any], ...] = (
        {"capacity": {"machine": "NC4", "zone": "first"}},
        {"evict": {"pool": "t4", "zone": "eu-1"}},
        {"silent": {}},
    )
    require_fit(scenario(*({"at": "1m", **fault} for fault in faults)), [NC4_SPOT, NC4_TWIN])


def test_a_stack_without_spot_has_nothing_to_take_away() -> None:
    with pytest.raises(SandboxError, match="the stack has no spot pool"):
        require_fit(scenario(), [NC4_TWIN])


def test_a_zone_of_another_pool_is_not_this_pools() -> None:
    other = Pool("l4", "G2", "spot", 1, 0, 8, ("eu-3",))
    faults: tuple[dict[str, Any], ...] = (
        {"capacity": {"machine": "G2", "zone": "eu-1"}},
        {"evict": {"pool": "l4", "zone": "eu-1"}},
    )
    with pytest.raises(SandboxError) as refused:
        require_fit(scenario(*({"at": "1m", **fault} for fault in faults)), [NC4_SPOT, NC4_TWIN, other])
    assert str(refused.value).count("the stack has no 'eu-1'; it has eu-3") == 2


def written(folder: Path, content: object) -> Path:
    path = folder / "trace.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def trace(gap: object, data: object) -> dict[str, object]:
    return {"metadata": {"gap_seconds": gap}, "data": data}


def test_a_trace_becomes_its_changes(tmp_path: Path) -> None:
    path = written(tmp_path, trace(300, [4, 4, 0, 0, 2]))
    changes = [(0, 4), (600, 0), (1200, 2)]
    assert read_trace(path, "T4", "eu-1") == [Step(at, "T4", "eu-1", nodes) for at, nodes in changes]
    assert Capacity(read_trace(path, "T4")).at("T4", "eu-2", 700) == 0, "without a zone it is of all"


WRONG_TRACES = {
    "list": ([1, 2], "it is no object"),
    "no data": ({"metadata": {"gap_seconds": 5}}, "data is missing or empty: write the numbers of available instances"),
    "empty": (trace(5, []), "data is missing or empty"),
    "no metadata": ({"data": [1]}, "metadata.gap_seconds is missing: write the seconds between two numbers"),
    "gap 0": (trace(0, [1]), "metadata.gap_seconds is 0: write seconds from 1 to 31622400"),
    "gap below 0": (trace(-3, [1]), "metadata.gap_seconds is -3"),
    "gap true": (trace(True, [1]), "metadata.gap_seconds is True"),
    "gap as a text": (trace("300", [1]), "metadata.gap_seconds is '300'"),
    "endless gap": (b'{"metadata": {"gap_seconds": 1e999}, "data": [1]}', "metadata.gap_seconds is inf"),
    "gap of many digits": (trace(10**400, [1]), "metadata.gap_seconds is 1000"),
    "negative": (trace(300, [1, -2]), "data[1] is -2: write a whole number from 0 to 100000"),
    "half": (trace(300, [0.5]), "data[0] is 0.5"),
    "true": (trace(300, [True]), "data[0] is True"),
    "null": (trace(300, [None]), "data[0] is None"),
    "NaN": (b'{"metadata": {"gap_seconds": 300}, "data": [NaN]}', "is not JSON: NaN is no number of JSON"),
    "too many": (trace(300, [10**9]), "data[0] is 1000000000"),
    "too long": (trace(86400, [1] * 400), "data has 400 numbers, 86400 s apart: a trace lasts at most 31622400 s"),
    "all wrong": (trace(300, [-1] * 15), "and 5 more numbers"),
    "no JSON": (b"gap_seconds: 300", "is not JSON"),
    "bytes": (b"\xff\xfe\x00", "is not JSON"),
    "deep": (b"[" * 200_000, "is not JSON"),
    "huge": (b" " * (MOST_BYTES + 1), "is larger than 16 MiB"),
}


@pytest.mark.parametrize("wrong", WRONG_TRACES)
def test_a_wrong_trace_is_refused_in_words(wrong: str, tmp_path: Path) -> None:
    content, message = WRONG_TRACES[wrong]
    with pytest.raises(SandboxError) as refused:
        read_trace(written(tmp_path, content), "T4")
    assert message in str(refused.value)
    assert str(refused.value).startswith(f"the trace {tmp_path}")
    assert len(str(refused.value)) < 2000


@pytest.mark.parametrize("name", ["missing.json", ".", "zero\0byte"])
def test_a_trace_that_cannot_be_read_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="cannot be read"):
        read_trace(tmp_path / name, "T4")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["metadata", "data", "gap_seconds", "x"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values.map(lambda value: json.dumps(value).encode())
    | st.binary(max_size=60)
    | st.builds(trace, values, values).map(lambda t: json.dumps(t).encode())
)
def test_any_trace_is_read_or_refused(tmp_path: Path, content: bytes) -> None:
    try:
        steps = read_trace(written(tmp_path, content), "T4")
    except SandboxError:
        return
    assert steps[0].at == 0
    assert all(step.nodes is not None and step.nodes >= 0 for step in steps)
