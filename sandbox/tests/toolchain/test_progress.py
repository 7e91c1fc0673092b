"""Progress of a build, and its remaining time."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from sandbox.toolchain import progress
from sandbox.toolchain.progress import EACH_IMPORT, EACH_LINK, Package, Progress, about, listed, remaining


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that the test sets."""
    now = [1000.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    return now


def packages(**weights: int) -> Mapping[str, Package]:
    return {name: Package("v1", weight) for name, weight in weights.items()}


@pytest.mark.parametrize(
    ("total", "done", "measured", "seconds", "left"),
    [
        (100, 25, 25, 60, 180),
        (100, 75, 25, 60, 60),  # Half of the packages were in Go's cache and do not count for the rate.
        (100, 100, 100, 60, 0),
        (100, 110, 110, 60, 0),
        (100, 1, 1, 2, None),  # Too early for an estimate.
        (100, 0, 0, 60, None),
    ],
)
def test_the_remaining_time_follows_the_rate_so_far(
    total: int, done: int, measured: int, seconds: int, left: float | None
) -> None:
    assert remaining(total, done, measured, seconds) == left


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "about 10 s"), (44, "about 40 s"), (89, "about 90 s"), (95, "about 2 min"), (290, "about 5 min")],
)
def test_an_estimate_is_rounded(seconds: float, text: str) -> None:
    assert about(seconds) == text


def test_a_build_reports_its_share_of_the_whole(clock: list[float]) -> None:
    report = Progress({"first": 1, "second": 1})
    half = EACH_LINK
    report.planned("first", packages(a=half, b=half))
    report.downloaded()
    report.compiled("first", "a")
    assert str(report) == "1 modules downloaded, 1 packages compiled"
    report.planned("second", packages(c=half, d=half))
    assert str(report) == "1 of 4 packages (16 %)"
    clock[0] += 60
    assert str(report) == "1 of 4 packages (16 %), about 5 min left"
    for name in "b":
        report.compiled("first", name)
    report.linked("first", 1)
    assert str(report) == "2 of 4 packages (50 %), about 60 s left"
    report.over("first")
    report.over("second")
    assert str(report) == "4 of 4 packages (100 %), about 10 s left"


def test_a_package_of_two_builds_counts_once_if_its_version_is_the_same(clock: list[float]) -> None:
    report = Progress({"first": 0, "second": 0})
    report.planned("first", {"same": Package("v1", 1), "raised": Package("v1", 1)})
    report.planned("second", {"same": Package("v1", 1), "raised": Package("v2", 1)})
    report.compiled("first", "same")
    assert str(report).startswith("1 of 3 packages")


def test_the_imports_of_a_compiled_package_count_as_done(clock: list[float]) -> None:
    """Packages in Go's cache are not printed, and must not be awaited."""
    report = Progress({"only": 0})
    report.planned(
        "only",
        {
            "fmt": Package("", 10),
            "library": Package("v1", 40, ("fmt",)),
            "program": Package("v1", 10, ("library", "C")),
            "other": Package("v1", 40),
        },
    )
    report.compiled("only", "program")
    clock[0] += 20
    assert str(report) == "3 of 4 packages (60 %), about 80 s left"


def test_the_output_of_go_list_becomes_packages(tmp_path: Path) -> None:
    (tmp_path / "a.go").write_text("x" * 100)
    (tmp_path / "b.go").write_text("x" * 50)
    output = (
        f"fmt\t\t{tmp_path}\ta.go\terrors io\nexample.com/m/p\tv1.2.3\t{tmp_path}\ta.go/b.go\tfmt\nunsafe\t\t\t\t\n"
    )
    packages = listed(output)
    assert packages["fmt"] == Package("", 100 + 3 * EACH_IMPORT, ("errors", "io"))
    assert packages["example.com/m/p"] == Package("v1.2.3", 150 + 2 * EACH_IMPORT, ("fmt",))
    assert packages["unsafe"].weight == EACH_IMPORT
