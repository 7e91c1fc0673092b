"""The pages name every command of the sandbox and every target of the Makefile."""

from __future__ import annotations

import re

import click
import pytest

from checks.preflight.azure import azure_checks as azure
from checks.preflight.gcp import gcp_checks as gcp
from checks.ready import judge
from components.azure import azure_checkpoints, azure_identity
from sandbox.cli.commands import main as sandbox
from sandbox.cloud.facts import tables as tables_of
from tests.docs.pages import DOCS, PROJECT, tables

assert isinstance(sandbox, click.Group)


@pytest.mark.parametrize("command", sandbox.list_commands(click.Context(sandbox)))
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


def test_the_rights_of_aks_name_every_role_that_the_program_gives() -> None:
    """A condition of whoever deploys is written from them."""
    names = tables_of("azure", "roles")["roles"]
    rights = (DOCS / "azure.md").read_text().partition("## Rights")[2].partition("\n## ")[0]
    rows = "\n".join(row for row in rights.splitlines() if ", by the program |" in row)
    roles = [role for role in vars(azure_identity).values() if isinstance(role, azure_identity.Role)]
    assert len(roles) >= 6
    assert [names[role.guid]["name"] for role in roles if names[role.guid]["name"] not in rows] == []
    assert f"`{azure_checkpoints.role_title('GROUP/CLUSTER in ACCOUNT')}`" in rows


def test_commands_on_blobs_log_in_because_keys_are_off() -> None:
    lines = [line for page in DOCS.rglob("*.md") for line in page.read_text().splitlines()]
    commands = [line for line in lines if re.match(r"\s*az storage (blob|container|fs) ", line)]
    assert len(commands) >= 4
    assert [line for line in commands if "--auth-mode login" not in line] == []
