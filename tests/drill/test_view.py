"""What a record shows at a moment, and how durations are written."""

from __future__ import annotations

import pytest

from drill.judge.verdict import moment, seconds, span
from drill.judge.view import View
from drill.world.record import Event, Node, Step
from tests.drill import records


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
    assert [span(value) for value in (0, 45, 99.6, 936, 7200, 700_000)] == [
        "0 s",
        "45 s",
        "1.7 min",
        "15.6 min",
        "2.0 h",
        "8.1 days",
    ]
    assert [moment(value) for value in (5, 1286.4, 3605, 200_000)] == ["0:05", "21:26", "1:00:05", "2 d 7:33"]
