"""The four numbers that a report begins with, the table of policies, and the units of the picture."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from drill import report
from drill.judge.outcome import Outcome, Row
from drill.report import charts
from drill.report.model import Number
from drill.report.page import comparison_page, page
from drill.world.record import Record
from tests.drill import records
from tests.drill.test_report import shown

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
    found = report.build(records.week(), least, policies=rows(240.0, 200.0))
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
    assert "25%  " in line.split("alone", 1)[1].lstrip()
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
