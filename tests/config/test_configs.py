"""The stack files of tests/configs: each happy one is good, each error row is bad for its one reason and no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from config.stack_file import loader
from tests.config.stack_files import CONFIGS, ERRORS, HAPPY, ErrorRow, Wanted, happy_warnings, settings

GOOGLE = [row for row in ERRORS if row.base.startswith("gke-")]
WHOLE = "nothing"
"""The base of rows that are whole files, of ten mistakes each."""


def is_accepted(raw: dict[str, Any], errors: list[Wanted], warnings: list[Wanted]) -> bool:
    """Whether the loader accepts a stack file. It must report these errors and warnings, and no other."""
    spec, problems = loader.read_stack(raw)
    for warning, wanted in ((False, errors), (True, warnings)):
        reported = [problem for problem in problems if problem.warning == warning]
        assert [problem.path for problem in reported] == [path for path, *_ in wanted], reported
        for problem, (_, what, remedy) in zip(reported, wanted, strict=True):
            assert problem.what.startswith(what), problem
            assert problem.remedy, problem
            assert remedy in problem.remedy, problem
    return spec is not None


@pytest.mark.parametrize("path", HAPPY, ids=lambda path: path.name)
def test_a_happy_file_has_no_error_and_exactly_the_warnings_it_names(path: Path) -> None:
    assert is_accepted(settings(path), [], happy_warnings(path.name.removesuffix(".happy.yaml")))


@pytest.mark.parametrize("row", ERRORS, ids=str)
def test_an_error_row_has_exactly_the_problems_it_names(row: ErrorRow) -> None:
    assert not is_accepted(row.settings(), row.problems, row.warnings)


def test_an_error_row_is_near_a_happy_file_and_has_one_reason() -> None:
    for row in ERRORS:
        if row.base != WHOLE:
            assert 1 <= len(row.set) + len(row.removes) <= 3, row
            assert len(row.problems) == 1, row


def test_a_file_with_ten_mistakes_reports_all_ten() -> None:
    assert [len(row.problems) for row in ERRORS if row.base == WHOLE] == [10, 10]


def test_no_row_hides_another_of_the_same_name() -> None:
    texts = [path.read_text() for path in CONFIGS.glob("errors/*.yaml")]
    assert len({str(row) for row in ERRORS}) == sum(text.count("\n    expect:") for text in texts)


def test_there_are_many_of_both() -> None:
    google = [path for path in HAPPY if path.name.startswith("gke-")]
    assert len(HAPPY) - len(google) >= 20
    assert len(ERRORS) - len(GOOGLE) >= 60
    assert len(google) >= 15
    assert len(GOOGLE) >= 60
    assert {path.name for path in CONFIGS.iterdir() if path not in HAPPY} == {"errors", "existing.cloud.yaml"}
