"""The timeline and the figures of a report."""

from __future__ import annotations

import pytest

from drill import report
from drill.report.timeline import sampled, timeline
from drill.world.record import Step
from tests.drill import records


def test_the_steps_of_a_timeline_have_the_machine_hours_of_the_nodes() -> None:
    record = records.large(nodes=50, pods=100)
    for found in (timeline(record), timeline(records.spot_gone())):
        ends = [*found.times[1:], found.length]
        for series in found.nodes:
            if series.band == "spot":
                hours = sum(value * (end - at) for value, at, end in zip(series.values, found.times, ends, strict=True))
                nodes = (record if found.step else records.spot_gone()).nodes
                ready = [node for node in nodes if node.pool == series.name and node.ready is not None]
                expected = sum((node.gone or found.length) - (node.ready or 0) for node in ready)
                assert hours == pytest.approx(expected, rel=0.01)


def test_spans_are_counted_by_step() -> None:
    assert sampled([(0, 10), (5, 20)], [0, 10, 15], 20) == (1.5, 1.0, 1.0)
    assert sampled([(-5, 3), (30, 40), (4, 4)], [0, 2], 6) == (1.0, 0.25)


def test_many_zones_are_added_up() -> None:
    record = records.empty()
    record.capacity = [Step(0.0, records.MACHINE, f"z{index}", 2) for index in range(14)]
    record.capacity += [Step(60.0, records.MACHINE, "z3", 0), Step(120.0, records.MACHINE, "z4", None)]
    stretches = [(each.zone, each.begin, each.nodes) for each in timeline(record).capacity]
    assert stretches == [("14 zones", 0.0, 28), ("14 zones", 60.0, 26), ("14 zones", 120.0, None)]


def test_capacity_that_changes_all_the_time_is_joined() -> None:
    record = records.empty()
    record.capacity = [Step(float(at), records.MACHINE, zone, at % 2) for zone in "ab" for at in range(0, 5400, 2)]
    record.capacity += [Step(float(at), records.MACHINE, zone, 3) for zone in "ab" for at in range(1, 5400, 2)]
    stretches = timeline(record).capacity
    assert len(stretches) <= 2 * 301
    assert sum(each.end - each.begin for each in stretches) == pytest.approx(2 * 5400)


def test_machine_hours_that_nothing_moves_back() -> None:
    """Pods run on demand until 63:01; spot with room for more than these six is back at 60:00."""
    (row,) = report.build(records.spot_gone()).not_moved
    assert row.pool == "gpuod"
    assert row.machine_hours == pytest.approx(0.3, abs=0.02)
    assert row.extra == pytest.approx(row.machine_hours * (3.67 - 0.8), abs=0.02)


def test_who_ran_where() -> None:
    assert [(each.role, each.pool, each.pods, each.restarts) for each in report.build(records.spot_gone()).placed] == [
        ("notebook", "system", 1, 0),
        ("platform", "system", 1, 0),
        ("predictor", "system", 1, 0),
        ("training", "gpuod", 6, 0),
        ("training", "gpuspot", 10, 6),
    ]
