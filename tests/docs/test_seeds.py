"""What public documents ask for, row by row (`seeds.yaml`): each row names a file, a test or a row of a file that exists."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.docs.pages import PROJECT

SEEDS: dict[str, list[list[str]]] = yaml.safe_load(Path(__file__).with_name("seeds.yaml").read_text())
COUNTS = [37, 16, 22, 43, 29]
"""The number of rows of each document."""

_REFERENCE = re.compile(r"([\w.-]+(?:/[\w.-]+)+|[A-Z]\w+\.md)(?:::([\w-]+))?")
"""A file, or a test or a row in it."""


@cache
def _names_in(path: str) -> frozenset[str]:
    name = r"^ +([\w-]+):" if path.endswith(".yaml") else r"^def (test_\w+)\("
    return frozenset(re.findall(name, (PROJECT / path).read_text(), re.MULTILINE))


def problems(rows: list[Any]) -> list[str]:
    """Return what is wrong with rows, each with its id."""
    wrong = []
    for id, _, shown in rows:
        references = _REFERENCE.findall(shown)
        if not references and not shown.startswith("no longer applies: "):
            wrong.append(f"{id}: names no file")
        for path, test in references:
            if not (PROJECT / path).is_file():
                wrong.append(f"{id}: there is no {path}")
            elif test and test not in _names_in(path):
                wrong.append(f"{id}: {path} has no {test}")
    return wrong


def test_every_row_of_the_documents_is_there_once() -> None:
    ids = [id for rows in SEEDS.values() for id, *_ in rows]
    assert ids == [f"{seed}.{row}" for seed, count in enumerate(COUNTS, 1) for row in range(1, count + 1)]


def test_every_file_and_test_that_a_row_names_exists() -> None:
    assert [problem for rows in SEEDS.values() for problem in problems(rows)] == []


def test_what_is_missing_is_detected() -> None:
    rows = [
        ["1.1", "a", "docs/none.md"],
        ["1.2", "b", "tests/docs/test_links.py::test_none"],
        ["1.3", "c", "some words"],
        ["1.4", "d", "no longer applies: nobody does that"],
    ]
    assert [problem.partition(":")[0] for problem in problems(rows)] == ["1.1", "1.2", "1.3"]
