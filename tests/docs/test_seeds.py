"""`docs/seeds.md`: every row of the five documents is there, and the files and tests that it names exist."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs/seeds.md").read_text()
ROWS = {1: 37, 2: 16, 3: 22, 4: 43, 5: 29}
"""The number of rows of each document."""

_REFERENCE = re.compile(r"`([^`\s]+/[^`\s]+?|[A-Z]\w+\.md)(?:::([\w-]+))?`")
"""A file, or a test or a row in it; other words in backticks have no slash."""


def rows(page: str) -> dict[str, str]:
    """Return the last column of each row by the row's id. Raise ValueError for an id that stands twice."""
    found: dict[str, str] = {}
    for id, shown in re.findall(r"^\| (\d\.\d+) \|[^|]+\| (.+) \|$", page, re.MULTILINE):
        if id in found:
            raise ValueError(f"row {id} stands twice")
        found[id] = shown
    return found


@cache
def _names_in(path: str) -> frozenset[str]:
    name = r"^ +([\w-]+):" if path.endswith(".yaml") else r"^def (test_\w+)\("
    return frozenset(re.findall(name, (PROJECT / path).read_text(), re.MULTILINE))


def problems(page: str) -> list[str]:
    """Return what is wrong with the page, by row."""
    wrong = []
    for id, shown in rows(page).items():
        references = _REFERENCE.findall(shown)
        if not references and not shown.startswith("no longer applies: "):
            wrong.append(f"{id}: names no file")
        for number, (path, test) in enumerate(references):
            exists = (PROJECT / path).is_file()
            if number == 0 and shown.startswith("open: "):
                if exists:
                    wrong.append(f"{id}: is open, and {path} exists: fill the row in")
            elif not exists:
                wrong.append(f"{id}: there is no {path}")
            elif test and test not in _names_in(path):
                wrong.append(f"{id}: {path} has no {test}")
    return wrong


def test_every_row_of_the_documents_is_there_once() -> None:
    assert list(rows(PAGE)) == [f"{seed}.{row}" for seed, count in ROWS.items() for row in range(1, count + 1)]
    assert sum(ROWS.values()) == 147


def test_every_file_and_test_that_a_row_names_exists() -> None:
    assert problems(PAGE) == []


def test_what_is_missing_or_done_meanwhile_is_detected() -> None:
    page = "\n".join(
        [
            "| 1.1 | a | `docs/none.md` |",
            "| 1.2 | b | `tests/docs/test_seeds.py::test_none` |",
            "| 1.3 | c | open: `docs/seeds.md`, soon |",
            "| 1.4 | d | some words |",
            "| 1.5 | e | open: `docs/none.md`, soon; `docs/seeds.md` meanwhile |",
            "| 1.6 | f | no longer applies: nobody does that |",
        ]
    )
    assert [problem.partition(":")[0] for problem in problems(page)] == ["1.1", "1.2", "1.3", "1.4"]
