"""Links of the documentation lead somewhere, and the front page stays one."""

import re
import subprocess
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
