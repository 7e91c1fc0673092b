"""Weight of the pages: a reader takes over what is written down."""

import subprocess

from tests.docs.pages import PROJECT

ALL_PAGES, FRONT_PAGE = 364 * 1024, 10_000
"""Bytes at most, decisions and changelog included."""


def test_all_pages_together_and_the_front_page_stay_within_their_bytes() -> None:
    listed = subprocess.run(["git", "ls-files", "-z", "*.md"], cwd=PROJECT, capture_output=True, text=True, check=True)
    sizes = {name: (PROJECT / name).stat().st_size for name in listed.stdout.split("\0") if name}
    assert len(sizes) > 40
    assert sum(sizes.values()) <= ALL_PAGES, sorted(sizes.items(), key=lambda size: -size[1])[:10]
    assert sizes["README.md"] <= FRONT_PAGE
