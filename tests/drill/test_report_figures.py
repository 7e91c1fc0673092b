"""The figures of a report: the timeline, who ran where, the four numbers at its head, the table of policies, units and colours."""

import json
import re
from dataclasses import replace

import pytest

from drill import report
from drill.judge.outcome import Outcome, Row
from drill.report import charts
from drill.report.colours import DARK, LIGHT
from drill.report.model import Number
from drill.report.page import comparison_page, page
from drill.report.timeline import sampled, timeline
from drill.world.record import Record, Step
from tests.drill import records
from tests.drill.test_report import shown


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


POLICIES = ("as the stack says", "on demand alone", "spot alone")


def rows(ours: float | None, alone: float | None, unfinished: int = 0) -> list[Row]:
    spent = zip(POLICIES, (ours, alone, 10.0), (0, 0, unfinished), strict=True)
    return [Row(policy, Outcome(usd, 600.0, 43200.0, 0.5, 0.01, left)) for policy, usd, left in spent]


def numbers(record: Record, policies: list[Row] | None = None) -> dict[str, Number]:
    return {number.name: number for number in report.build(record, policies=policies or []).numbers}


@pytest.mark.parametrize(
    ("ours", "alone", "value", "words", "state"),
    [
        (150.0, 200.0, "25%", "50.00 of 200.00 USD, by the same work.", "note"),
        (200.0, 200.0, "0%", "0.00 of 200.00 USD, by the same work.", "note"),
        (
            240.0,
            200.0,
            "costs 40.00 USD more",
            "20% more than on demand alone (200.00 USD), by the same work.",
            "explained",
        ),
        (None, 200.0, "not compared", "On demand alone was not run on this work.", "note"),
        (150.0, None, "not compared", "On demand alone was not run on this work.", "note"),
    ],
)
def test_what_is_saved_is_against_on_demand_alone(
    ours: float | None, alone: float | None, value: str, words: str, state: str
) -> None:
    found = numbers(records.spot_gone(), rows(ours, alone))["Saved against on demand alone"]
    assert (found.value, found.words, found.state) == (value, words, state)
    assert numbers(records.spot_gone())["Saved against on demand alone"].value == "not compared"


def test_a_week_that_saves_nothing_is_red() -> None:
    least = type("Least", (), {"cost": 1.0, "on_demand_cost": None, "explanation": ""})()
    week = records.spot_gone()
    week.scenario = "week"
    found = report.build(week, least, policies=rows(240.0, 200.0))
    assert found.numbers[0].state == "red"
    assert '<div class="bad"><dt>Saved against on demand alone</dt>' in page(found)


def test_the_numbers_have_the_units_and_the_values_of_the_record() -> None:
    """Six pods work 975 s on spot until 20 minutes, later all of it or more on demand; 375 s of each are lost."""
    found = numbers(records.spot_gone())
    assert found["Longest wait"].value == "12.0 min"
    assert found["Longest wait"].words == "For a node; 15.0 min are accepted."
    assert found["Share of GPU hours on spot"].value.endswith("%")
    assert found["Work done again"].value != "0.0%"
    empty = numbers(records.empty())
    assert (empty["Share of GPU hours on spot"].value, empty["Work done again"].value) == ("no GPU work", "0.0%")


def test_a_wait_that_is_too_long_is_red_and_says_so() -> None:
    record = records.spot_gone()
    record.accepted_wait = 300.0
    found = report.build(record)
    wait = next(number for number in found.numbers if number.name == "Longest wait")
    assert (wait.state, wait.words) == ("red", "Too long: 5.0 min are accepted.")
    assert '<div class="bad"><dt>Longest wait</dt>' in page(found)


def test_a_verdict_that_holds_by_an_explanation_is_amber_and_says_so() -> None:
    found = report.build(records.spot_gone())
    explained, failed = "Time to fall back", "Work completes"
    verdicts = [replace(each, explained=each.name == explained, ok=each.name != failed) for each in found.verdicts]
    text = page(replace(found, verdicts=tuple(verdicts)))
    assert '<span class="state amber">explained</span>' in text
    assert text.index(">red</span>") < text.index(">explained</span>") < text.index(">holds</span>")
    assert 'class="sum bad">One verdict is red: Work completes. One verdict is explained: Time to fall back.' in text
    held = replace(found, verdicts=tuple(replace(verdict, ok=True) for verdict in verdicts))
    assert 'class="sum amber">One verdict is explained: Time to fall back.' in page(held)


def test_policies_stand_in_a_table_with_what_they_saved() -> None:
    found = report.build(records.spot_gone(), policies=rows(150.0, 200.0, unfinished=7))
    text = shown(found, 160)
    lines = {policy: next(line for line in text.splitlines() if line.startswith(policy)) for policy in POLICIES}
    assert lines["as the stack says"].split()[4:] == ["150.00", "25%", "10.0", "min", "0.50", "50%", "1.0%", "-"]
    assert lines["on demand alone"].split()[3:5] == ["200.00", "-"]
    (*_, last) = cells = lines["spot alone"].split()
    assert (cells[2:4], last) == (["10.00", "95%"], "7")
    assert "what is not done costs nothing, and is no saving" in " ".join(text.split())
    assert "in a drill in memory" in "".join(page(found).split("\n"))
    assert json.loads(report.to_json(found))["policies"][2]["outcome"]["unfinished"] == 7
    assert "fixed policies" not in shown(report.build(records.spot_gone()))
    all_done = report.build(records.spot_gone(), policies=rows(150.0, 200.0))
    assert "is no saving" not in " ".join(shown(all_done, 160).split())


def test_a_comparison_begins_with_the_numbers_of_both_sides() -> None:
    before, after = (report.build(records.spot_gone(), policies=rows(usd, 200.0)) for usd in (150.0, 180.0))
    compared = report.compare_reports(before, after)
    text = comparison_page(compared)
    both = r"Saved against on demand alone</th><td[^>]*><strong>25%</strong>.*?<td[^>]*><strong>10%</strong>"
    assert re.search(both, text)
    assert text.index('class="numbers"') < text.index("What differs") < text.index("<svg ")
    line = next(line for line in shown(compared, 160).splitlines() if line.startswith("Saved"))
    assert re.search(r"25% +10% ", line)


@pytest.mark.parametrize(("length", "symbol"), [(5400.0, "min"), (36000.0, "h"), (604800.0, "d")])
@pytest.mark.parametrize("width", [charts.WIDE, charts.NARROW])
def test_every_axis_has_its_unit(length: float, symbol: str, width: int) -> None:
    timeline = replace(report.build(records.spot_gone()).timeline, length=length)
    drawn = charts.svg(charts.spec(timeline, lambda name: name, width))
    ticks = re.findall(r">(\d[\d,]*(?: \w+)?)</text>", drawn)
    # Four panels have a time axis each, which begins at 0.
    assert ticks.count(f"0 {symbol}") == 4
    assert [drawn.count(f">{unit}</text>") for unit in ("nodes", "pods")] == [1, 1]


def lightness(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    high, low = sorted((lightness(first), lightness(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_main_colours_are_okabe_and_itos() -> None:
    """jfly.uni-koeln.de/color: blue, sky blue, orange, reddish purple."""
    assert [LIGHT[name] for name in ("spot-1", "spot-2", "on-demand-1", "waiting-1")] == [
        *("#0072b2", "#56b4e9", "#e69f00", "#cc79a7")
    ]


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_are_read_and_spot_is_told_from_on_demand_without_hues(palette: dict[str, str]) -> None:
    assert palette.keys() == LIGHT.keys()
    assert contrast(palette["ink"], palette["paper"]) >= 7
    assert contrast(palette["soft"], palette["paper"]) >= 4.5
    assert contrast(palette["spot-1"], palette["on-demand-1"]) >= 1.5
