"""Traces of capacity in the published shape, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drill.world.capacity import Capacity
from drill.world.record import Step
from drill.world.trace import MOST_BYTES, read_trace
from sandbox.base.errors import SandboxError


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


WRONG = {
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


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_file_is_refused_in_words(wrong: str, tmp_path: Path) -> None:
    content, message = WRONG[wrong]
    with pytest.raises(SandboxError) as refused:
        read_trace(written(tmp_path, content), "T4")
    assert message in str(refused.value)
    assert str(refused.value).startswith(f"the trace {tmp_path}")
    assert len(str(refused.value)) < 2000


@pytest.mark.parametrize("name", ["missing.json", ".", "zero\0byte"])
def test_a_file_that_cannot_be_read_is_refused(name: str, tmp_path: Path) -> None:
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
def test_any_file_is_read_or_refused(tmp_path: Path, content: bytes) -> None:
    try:
        steps = read_trace(written(tmp_path, content), "T4")
    except SandboxError:
        return
    assert steps[0].at == 0
    assert all(step.nodes is not None and step.nodes >= 0 for step in steps)
