"""The report as data, text and files."""

import errno
import io
import json
import os
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from drill import report
from drill.report import charts
from drill.report.page import LARGEST, page
from drill.report.timeline import MARKS, STEPS
from drill.world.record import Record, Step
from sandbox.base.errors import SandboxError
from tests.drill import records

EVIL = "<script>alert(1)</script>[bold]\x1b[31m&\"'"


@pytest.fixture(scope="module")
def small() -> report.Report:
    return report.build(records.spot_gone())


@pytest.fixture(scope="module")
def files(small: report.Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    report.write(small, folder)
    return folder


def test_the_files_of_a_report(files: Path) -> None:
    names = sorted(path.name for path in files.iterdir())
    assert names == ["report.html", "report.json", "timeline.png", "timeline.svg"]
    assert (files / "timeline.png").read_bytes().startswith(b"\x89PNG")
    assert (files / "timeline.svg").read_text().startswith("<svg ")
    assert "var(--" not in (files / "timeline.svg").read_text()


class _Reader(HTMLParser):
    """Elements that were opened and closed, and everything that a browser would load."""

    VOID = ("meta", "br")

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        loading = ("src", "href", "xlink:href", "srcset", "action", "data")
        self.loaded += [value or "" for name, value in attrs if name in loading]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)


def test_the_page_is_whole_and_loads_nothing(files: Path) -> None:
    text = (files / "report.html").read_text()
    reader = _Reader(text)
    assert reader.open == []
    assert reader.loaded == []
    assert "url(" not in text
    assert "@import" not in text
    assert "default-src &#x27;none&#x27;" in text
    addresses = [part.split('"')[0] for part in text.split("http")[1:]]
    known = {"://www.w3.org/2000/svg", "://www.w3.org/1999/xlink"}
    assert {each for each in addresses if "-equiv" not in each} <= known


def test_the_picture_stands_first_then_the_numbers_the_verdicts_and_the_figures(files: Path) -> None:
    text = (files / "report.html").read_text()
    numbers = ("Saved against on demand alone", "Share of GPU hours on spot")
    in_order(text, "<svg ", *numbers, "Every verdict", "Work lost for", "Who ran where", "Machine-hours and cost")
    in_order(text, "Machine-hours and cost", "This drill")


def in_order(text: str, *words: str) -> None:
    """Assert that words stand in a text one after another."""
    places = [text.index(each) for each in words]
    assert places == sorted(places)


def test_the_page_says_the_autoscalers_words_on_hover_and_has_colours_for_light_dark_and_paper(files: Path) -> None:
    text = (files / "report.html").read_text()
    assert 'aria-label="31:26 failed: Node group gpuspot timed out: no node in 10m"' in text
    assert "@media screen and (prefers-color-scheme:dark)" in text
    assert "@media print" in text
    assert 'fill="var(--spot-1)"' in text


def evil() -> Record:
    record = records.spot_gone()
    record.description = record.stack = record.autoscaler = EVIL
    record.pools[2] = replace(record.pools[2], name=EVIL, machine=EVIL)
    record.pools[1] = replace(record.pools[1], fallback=(EVIL,))
    for each in (*record.nodes, *record.pods):
        if each.pool == "gpuod":
            each.pool = EVIL
    record.events = [replace(event, text=EVIL, pool=EVIL) for event in record.events]
    for pod in record.pods:
        pod.name += EVIL
    record.caveats, record.settings = (EVIL,), {EVIL: EVIL, "scanInterval": "10s"}
    record.capacity.append(Step(0.0, EVIL, EVIL, 3))
    return record


def test_names_are_text_and_never_markup() -> None:
    found = report.build(evil())
    text = page(found)
    assert "alert(1)" in "".join(_Reader(text).words)
    assert "<script>alert" not in text
    assert "\x1b" not in text
    assert text.count("<script>") == 1
    assert "\x1b[31m" not in shown(found)
    assert "[bold]" in shown(found)


def shown(found: report.Report | report.Comparison, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(report.text(found))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_terminal_shows_verdicts_first(small: report.Report) -> None:
    text = shown(small)
    in_order(text, "Work lost for good", "Figures", "Who ran where", "This drill", "What the clock changes")
    assert "12.0 min at most, 6 pods" in text


def test_red_verdicts_and_caveats_come_first() -> None:
    record = records.spot_gone()
    record.work[4].times, record.caveats = 2, ("Timers of GKE are assumed.",)
    found = report.build(record)
    text = shown(found)
    in_order(text, "Timers of GKE", "Work done twice", "Work lost for good")
    assert found.failed
    in_order("".join(_Reader(page(found)).words), "Timers of GKE", "One verdict is red: Work done twice.")


def test_a_gke_report_begins_with_what_is_assumed() -> None:
    record = records.spot_gone()
    record.provider, record.settings = "gcp", {}
    assert shown(report.build(record), 300).startswith("Google publishes no timers of its autoscaler")


def test_a_large_drill_has_a_small_report() -> None:
    found = report.build(records.large())
    assert len(report.to_json(found)) < 60_000
    assert len(found.timeline.times) == STEPS
    assert max(sum(mark.kind == kind for mark in found.timeline.marks) for kind in ("scale-up", "evicted")) <= MARKS
    assert len(page(found)) < LARGEST / 2


def test_the_keys_of_the_json(small: report.Report) -> None:
    """A key that goes or changes its meaning breaks who reads reports: then raise FORMAT."""
    found = json.loads(report.to_json(small))
    assert " ".join(found) == (
        "format scenario description stack provider location seed autoscaler settings clock caveats capacity_source"
        " price_source failed numbers policies verdicts figures placed pools not_moved losses best timeline"
    )
    assert " ".join(found["verdicts"][0]) == "name ok measured bound why explained"
    assert " ".join(figure["key"] for figure in found["figures"]) == (
        "red_verdicts longest_wait time_to_fall_back waited pods_fallen_back share_on_spot restarts work_repeated"
        " finished spot_hours on_demand_hours not_moved_hours cost best_cost"
    )
    assert " ".join(found["timeline"]) == "length step times nodes pods capacity marks"


def test_a_report_is_read_as_it_was_written(small: report.Report, files: Path) -> None:
    assert report.read_report(files / "report.json") == small


OTHER_FILES = {"{}": "no report of a drill", "[": "no report", None: "cannot be read", "format": "report of format 99"}


@pytest.mark.parametrize(("text", "message"), OTHER_FILES.items())
def test_another_file_is_refused(small: report.Report, tmp_path: Path, text: str | None, message: str) -> None:
    file = tmp_path / "report.json"
    if text is not None:
        file.write_text(report.to_json(replace(small, format=99)) if text == "format" else text)
    with pytest.raises(SandboxError, match=message):
        report.read_report(file)


def test_rows_of_what_is_lost_are_shown() -> None:
    rows = [SimpleNamespace(pool="gpuod", cause="machines that boot", setting="", seconds=3600.0, amount=3.67)]
    least = SimpleNamespace(cost=1.0, on_demand_cost=2.0, explanation="The least cost with hindsight.")
    text = shown(report.build(records.spot_gone(), least, rows))
    assert "From the best possible to this drill" in text
    assert "machines that boot" in text
    assert "The least cost with hindsight." in text


def test_a_record_without_anything_has_a_report() -> None:
    found = report.build(records.empty())
    assert "no pod fell back" in shown(found)
    assert charts.spec(found.timeline, lambda name: name)["vconcat"]


def test_a_full_disk_leaves_the_earlier_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "report.json").write_text("earlier")
    monkeypatch.setattr("drill.report.files._files", lambda _: {"report.json": b"new", "report.html": b"new"})
    calls = iter([None, OSError(errno.ENOSPC, "No space left on device")])

    def full(_: int) -> None:
        if error := next(calls):
            raise error

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        report.write(report.build(records.empty()), tmp_path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("report.json", "earlier")]
