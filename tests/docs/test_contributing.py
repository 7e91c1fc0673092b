"""CONTRIBUTING.md's table "Where things are": each row's test fails when what the row names is changed.

`changes.yaml` has one change for each row: a constant or a sentence of a file that the row names.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.docs.pages import PROJECT, tables


class Row(NamedTuple):
    """A row of the table: what is to be changed, the files, and the tests by their paths."""

    topic: str
    files: str
    tests: tuple[str, ...]


ROWS = {
    row[0]: Row(row[0], row[1], tuple(re.findall(r"`([^`]+)`", row[2])))
    for table in tables(PROJECT / "CONTRIBUTING.md")
    if table[0] == ["to change", "open", "test"]
    for row in table[1:]
}
CHANGES = [
    {"file": re.findall(r"`([^`]+/[^`]*)`", ROWS[change["row"]].files)[0], **change}
    for change in yaml.safe_load(Path(__file__).with_name("changes.yaml").read_text())
]


def test_the_table_has_rows_and_a_change_for_each() -> None:
    assert len(ROWS) > 40
    assert [change["row"] for change in CHANGES] == list(ROWS)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change["row"][:60])
def test_a_row_names_files_and_a_test_that_exist(change: dict[str, str]) -> None:
    row, file = ROWS[change["row"]], change["file"]
    assert [path for path in row.tests if not (PROJECT / path.partition("::")[0]).exists()] == []
    named = [
        re.escape(place).replace("<cloud>", "(azure|gcp|existing)") for place in re.findall(r"`([^`]+)`", row.files)
    ]
    assert any(re.match(place.replace(r"\*", "[^/]*"), file) for place in named), file
    assert (PROJECT / file).read_text().count(change["old"]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change["row"][:60])
def test_the_rows_test_fails_when_what_it_names_is_changed(change: dict[str, str], checkout: Path) -> None:
    file = checkout / change["file"]
    good = file.read_text()
    file.write_text(good.replace(change["old"], change["new"]))
    try:
        command = [sys.executable, "-m", "pytest", "-q", "-n0", "-x", "-p", "no:cacheprovider", "-m", "not slow"]
        done = subprocess.run(
            [*command, ROWS[change["row"]].tests[0]],
            cwd=checkout,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
        )
    finally:
        file.write_text(good)
    assert done.returncode == 1, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the files that git knows, in which a file may be changed."""
    folder = tmp_path_factory.mktemp("checkout")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=PROJECT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (PROJECT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((PROJECT / name).read_bytes())
            (folder / name).chmod((PROJECT / name).stat().st_mode)
    return folder
