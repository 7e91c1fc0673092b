"""The pages name every command of the sandbox and every target of the Makefile."""

from __future__ import annotations

import re

import click
import pytest

from preflight.azure import checks as azure
from preflight.gcp import checks as gcp
from ready import judge
from sandbox.cli.commands import main as sandbox
from tests.docs.pages import DOCS, PROJECT, tables

assert isinstance(sandbox, click.Group)


@pytest.mark.parametrize("command", sorted(sandbox.commands))
def test_the_page_on_the_sandbox_names_the_command(command: str) -> None:
    assert re.search(rf"`[^`]*\b{command}\b[^`]*`", (DOCS / "sandbox.md").read_text())


def test_the_page_on_ready_has_a_row_for_every_check() -> None:
    rows = {cell for table in tables(DOCS / "ready.md") for row in table for cell in row[:1]}
    checks = [*judge.CHECKS, *azure.CHECKS, *gcp.CHECKS]
    assert {f"`{check.name}`" for check in checks} <= rows


def test_every_make_target_that_a_page_names_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):.*##", (PROJECT / "Makefile").read_text(), re.MULTILINE))
    pages = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *DOCS.glob("*.md")]
    named = {
        target for page in pages for target in re.findall(r"(?:`|^\$ )make ([a-z-]+)", page.read_text(), re.MULTILINE)
    }
    assert {"up", "test", "check"} <= named
    assert named <= targets
