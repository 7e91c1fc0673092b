"""Links of the documentation lead somewhere, and the front page stays one."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs import pages
from tests.docs.pages import DOCS, PAGES, PROJECT

CONTRIBUTING = PROJECT / "CONTRIBUTING.md"


def broken(page: Path) -> list[str]:
    """Relative links that lead to no file or to no heading."""
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
    assert len(text.encode()) <= 12_000


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
