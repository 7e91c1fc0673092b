"""Weight of the pages: a reader takes over what is written down."""

import subprocess

from tests.docs.pages import PROJECT

ALL_PAGES, FRONT_PAGE = 350_000, 10_000
"""Bytes at most: of README and docs/, decisions included, and of README alone."""


def test_all_pages_together_and_the_front_page_stay_within_their_bytes() -> None:
    pages = ["git", "ls-files", "-z", "README.md", "docs/*.md"]
    listed = subprocess.run(pages, cwd=PROJECT, capture_output=True, text=True, check=True)
    sizes = {name: (PROJECT / name).stat().st_size for name in listed.stdout.split("\0") if name}
    assert len(sizes) > 40
    assert sum(sizes.values()) <= ALL_PAGES, sorted(sizes.items(), key=lambda size: -size[1])[:10]
    assert sizes["README.md"] <= FRONT_PAGE
