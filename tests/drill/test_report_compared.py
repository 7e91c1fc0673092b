"""Two reports side by side."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from drill import report
from drill.report.model import Figure
from drill.world.record import Record
from tests.drill import records
from tests.drill.test_report import in_order, shown

Both = tuple[report.Report, report.Report]
NAMED = ("main", "work tree"), "Both sides have the same work."


def faster(record: Record) -> Record:
    """Return the same drill with a provision time of five minutes."""
    record.settings = {**record.settings, "maxNodeProvisionTime": "5m"}
    for pod in record.pods:
        if pod.pool == "gpuod":
            assert pod.bound
            pod.bound -= 300
    return record


@pytest.fixture(scope="module")
def both() -> Both:
    return report.build(records.spot_gone()), report.build(faster(records.spot_gone()))


def test_one_sentence_for_each_figure_that_moved(both: Both) -> None:
    found = report.compare_reports(*both)
    assert found.changed == ("`maxNodeProvisionTime: 5m`",)
    assert [moved.sentence for moved in found.moved] == [
        "With `maxNodeProvisionTime: 5m` the longest wait falls from 12.0 to 7.0 minutes.",
        "With `maxNodeProvisionTime: 5m` the time to fall back falls from 12.0 to 7.0 minutes.",
        "With `maxNodeProvisionTime: 5m` the waiting of all GPU pods falls from 92.5 to 62.5 minutes.",
        "With `maxNodeProvisionTime: 5m` the share of GPU pod-hours on spot falls from 54.1% to 50.3%.",
    ]
    assert all(moved.sentence in shown(found) for moved in found.moved)


def test_the_same_report_moves_nothing(both: Both) -> None:
    found = report.compare_reports(both[0], both[0])
    assert (found.changed, found.moved, found.turned, found.comparable) == ((), (), (), ())
    assert "No figure differs." in shown(found)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(90, "0 to 90 seconds"), (5400, "0.0 to 90.0 minutes"), (86400, "0.0 to 24.0 hours"), (2e6, "0.0 to 23.1 days")],
)
def test_a_sentence_has_the_unit_of_the_table(seconds: float, words: str, both: Both) -> None:
    figures = [Figure("longest_wait", "longest wait", value, "seconds") for value in (0.0, seconds)]
    sides = [replace(both[0], figures=(figure,)) for figure in figures]
    (moved,) = report.compare_reports(*sides).moved
    assert moved.sentence == f"After the change the longest wait rises from {words}."


def test_a_figure_that_reads_alike_is_no_difference(both: Both) -> None:
    figures = [replace(each, value=each.value and each.value + 0.0001) for each in both[0].figures]
    assert report.compare_reports(both[0], replace(both[0], figures=tuple(figures))).moved == ()


def test_several_changes_have_no_one_name(both: Both) -> None:
    record = faster(records.spot_gone())
    record.pools[2] = replace(record.pools[2], most=30)
    record.pools.append(replace(record.pools[2], name="h100"))
    found = report.compare_reports(both[0], report.build(record))
    assert found.changed == ("`maxNodeProvisionTime: 5m`", "a new pool `h100`", "at most 30 nodes of pool `gpuod`")
    assert found.moved[0].sentence == "After the change the longest wait falls from 12.0 to 7.0 minutes."


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"fallback": ()}, "no fallback of pool `gpuspot`"),
        ({"fallback": ("gpuod", "gpuspot")}, "fallback `gpuod`, `gpuspot` of pool `gpuspot`"),
        ({"zones": ("1",)}, "zones 1 for pool `gpuspot`"),
        ({"zones": ()}, "no zones for pool `gpuspot`"),
        ({"capacity": "on-demand"}, "on-demand capacity for pool `gpuspot`"),
        ({"machine": "Standard_NC4as_T4_v3", "gpus": 4}, "`Standard_NC4as_T4_v3` for pool `gpuspot`"),
        ({"gpus": 7}, "7 GPUs on each node of pool `gpuspot`"),
        ({"least": 1}, "at least 1 node of pool `gpuspot`"),
        ({"most": 30}, "at most 30 nodes of pool `gpuspot`"),
        ({"least": None, "most": None}, "no autoscaling of pool `gpuspot`"),
    ],
    ids=str,
)
def test_each_difference_of_a_pool_is_named(change: dict[str, Any], named: str, both: Both) -> None:
    record = records.spot_gone()
    record.pools[1] = replace(record.pools[1], **change)
    found = report.compare_reports(both[0], report.build(record))
    assert found.changed == (named,)
    assert named.replace("`", "") in shown(found)
    assert all(moved.sentence.startswith(f"With {named} ") for moved in found.moved)


def test_a_pool_that_joins_a_chain_is_named_once_and_another_order_of_the_rest_beside_it(both: Both) -> None:
    record = records.spot_gone()
    record.pools.append(replace(record.pools[2], name="big"))
    record.pools[1] = replace(record.pools[1], fallback=("big", "gpuod"))
    assert report.compare_reports(both[0], report.build(record)).changed == ("a new pool `big`",)
    other = records.spot_gone()
    other.pools.append(record.pools[3])
    other.pools[1] = replace(record.pools[1], fallback=("gpuod", "big"))
    found = report.compare_reports(report.build(record), report.build(other))
    assert found.changed == ("fallback `gpuod`, `big` of pool `gpuspot`",)


def test_the_head_names_the_settings_and_what_both_have_alike(both: Both) -> None:
    text = shown(report.compare_reports(both[0], both[0], *NAMED))
    assert "Before: main. After: work tree.\nNothing that the drill compares differs" in text
    assert "Both sides have the same work." in text
    assert "Nothing that the drill compares" not in shown(report.compare_reports(*both))


def test_verdicts_that_turn_and_drills_that_differ_are_named(both: Both) -> None:
    record = records.spot_gone()
    record.seed, record.work[4].times = 8, 2
    found = report.compare_reports(both[0], report.build(record))
    assert [(each.name, each.before, each.after) for each in found.turned] == [("Work done twice", "holds", "red")]
    assert found.comparable == ("The seed differs: 7, then 8.",)
    assert "After the change the red verdicts rise from 0 to 1." in shown(found)


def test_a_figure_that_one_side_lacks(both: Both) -> None:
    record = records.spot_gone()
    record.pools[1] = replace(record.pools[1], price=None)
    without = report.build(record)
    (moved,) = report.compare_reports(both[0], without).moved
    assert moved.sentence == "After the change the cost of GPU nodes is no longer known; it was 18.30 USD."
    (first, *_) = report.compare_reports(without, both[0]).moved
    assert first.sentence == "After the change the cost of GPU nodes is now 18.30 USD."


def test_the_page_has_both_timelines_on_the_same_axes(both: Both, tmp_path: Path) -> None:
    shorter = replace(both[1], timeline=replace(both[1].timeline, length=2700.0))
    written = report.write(report.compare_reports(both[0], shorter, *NAMED), tmp_path)
    pictures = [f"timeline-{side}.{kind}" for side in ("after", "before") for kind in ("png", "svg")]
    assert sorted(path.name for path in written) == ["report.html", "report.json", *pictures]
    text = (tmp_path / "report.html").read_text()
    in_order(text, "Before: main. After: work tree.", "Both sides have the same work.")
    falls = "falls from 12.0 to 7.0 minutes"
    in_order(text, "Saved against on demand alone", falls, "Timeline before", "Timeline after")
    for name in ("before", "after"):
        assert ">90 min</text>" in (tmp_path / f"timeline-{name}.svg").read_text()
    found = json.loads((tmp_path / "report.json").read_text())
    assert list(found) == ["format", "changed", "comparable", "moved", "turned", "before", "after", "names", "basis"]
