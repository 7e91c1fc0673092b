"""Links of the documentation lead somewhere, the front page stays one, and what `docs/seeds.md` names exists."""

import re
import subprocess
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs import pages
from tests.docs.pages import DOCS, PAGES, PROJECT

CONTRIBUTING = PROJECT / "CONTRIBUTING.md"


def broken(page: Path) -> list[str]:
    """Return relative links that lead to no file or to no heading."""
    links = []
    for link in pages.links(page):
        path, _, fragment = unquote(link).partition("#")
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or PROJECT not in target.parents or (fragment and fragment not in pages.anchors(target)):
            links.append(link)
    return links


@pytest.mark.parametrize("page", PAGES, ids=pages.name)
def test_every_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    assert broken(page) == []


def test_a_broken_link_is_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A heading\n\n[a](#a-heading) [b](#another) [c](gone.md) [d](page.md#a-heading) `[e](code.md)`\n")
    monkeypatch.setattr("tests.docs.test_links.PROJECT", tmp_path)
    assert broken(page) == ["#another", "gone.md"]


def test_the_front_page_is_short() -> None:
    text = (PROJECT / "README.md").read_text()
    assert len(text.splitlines()) <= 200
    assert len(text.encode()) <= 10_000


def test_the_front_page_names_what_users_come_for() -> None:
    text = (PROJECT / "README.md").read_text()
    for word in ("evictionPolicy", "maxPrice", "fallback", "make up", "make test", "docs/architecture.svg", "macOS"):
        assert word in text


@pytest.mark.parametrize("index", ["README.md", "docs/README.md"])
def test_an_index_names_every_page(index: str) -> None:
    text = (PROJECT / index).read_text()
    every = {path.name for path in DOCS.glob("*.md")} - {"README.md"}
    assert sorted(name for name in every if name not in text) == []


def test_contributing_names_only_files_that_exist() -> None:
    """A path with `<cloud>` exists for some cloud, one with a star or another placeholder for some file."""
    named = set(re.findall(r"`((?:\.?\w[\w.-]*/)[\w./<>*-]*|[\w-]+\.(?:toml|md|lock|py))`", CONTRIBUTING.read_text()))
    assert len(named) > 40
    missing = []
    for path in named:
        pattern = re.sub(r"<\w+>", "*", path).rstrip("/")
        places = ["", "config/clouds/*/", "components/*/", "sandbox/*/"]
        if not any(next(PROJECT.glob(place + pattern), None) for place in places):
            missing.append(path)
    assert missing == []


DECISIONS = sorted((DOCS / "adr").glob("0*.md"))


def test_a_decision_has_a_status_and_is_linked_both_ways() -> None:
    assert len(DECISIONS) <= 30
    linked = {page.name: {link.partition("#")[0] for link in pages.links(page)} for page in DECISIONS}
    for name, links in linked.items():
        text = (DOCS / "adr" / name).read_text()
        assert re.search(r"^Status: (accepted|proposed)$", text, re.MULTILINE), name
        for other in links & linked.keys():
            assert name in linked[other], f"{other} does not link {name}"


def test_every_decision_is_in_the_index_and_named_elsewhere() -> None:
    index = (DOCS / "adr" / "README.md").read_text()
    grep = ["git", "grep", "-hoE", r"ADR [0-9]+\b|adr/[0-9]{4}", "--", ":!docs/adr", ":!CHANGELOG.md"]
    found = subprocess.run(grep, cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    named = {int(number) for number in re.findall(r"\d+", found)}
    for page in DECISIONS:
        title = page.read_text().splitlines()[0].partition(". ")[2]
        assert f"[{title}]({page.name})" in index
        assert int(page.name[:4]) in named, page.name


SEEDS = (PROJECT / "docs/seeds.md").read_text()
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
    assert list(rows(SEEDS)) == [f"{seed}.{row}" for seed, count in ROWS.items() for row in range(1, count + 1)]
    assert sum(ROWS.values()) == 147


def test_every_file_and_test_that_a_row_names_exists() -> None:
    assert problems(SEEDS) == []


def test_what_is_missing_or_done_meanwhile_is_detected() -> None:
    page = "\n".join(
        [
            "| 1.1 | a | `docs/none.md` |",
            "| 1.2 | b | `tests/docs/test_links.py::test_none` |",
            "| 1.3 | c | open: `docs/seeds.md`, soon |",
            "| 1.4 | d | some words |",
            "| 1.5 | e | open: `docs/none.md`, soon; `docs/seeds.md` meanwhile |",
            "| 1.6 | f | no longer applies: nobody does that |",
        ]
    )
    assert [problem.partition(":")[0] for problem in problems(page)] == ["1.1", "1.2", "1.3", "1.4"]
