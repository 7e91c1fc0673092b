"""`sandbox preview --base REV`: compare, write the report, and say by the exit code whether somebody should look."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from pathlib import Path

import click

from sandbox.base.home import Home
from sandbox.report import comparison, markdown, scratch
from sandbox.report.model import Level, Op, Report, Status
from sandbox.report.revision import Revision


def preview(
    home: Home,
    stack: str,
    base: str,
    *,
    directory: Path | None,
    fail_on: Collection[str],
    as_json: bool,
    cloud: Path | None,
    tell: Callable[[str], None],
) -> bool:
    """Write the report of all stacks, or of the one named, into a folder or to the terminal; whether all is well.

    Not well is a stack that cannot be previewed, and what `fail_on` names: something replaced or deleted, or a mandatory policy
    that is broken. Raises SandboxError when the base is no revision or does not run.
    """
    revision = Revision.of(home.project, base)
    with scratch.opened(home.root, tell) as folder:
        found = comparison.compare(home.project, revision, folder, tell, stack, cloud)
    if directory:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "report.json").write_text(found.model_dump_json(indent=2), encoding="utf-8")
        (directory / "report.md").write_text(markdown.render(found), encoding="utf-8")
        tell(f"wrote report.json and report.md to {directory}")
    elif as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        # A terminal has room for all of it.
        click.echo(markdown.render(found, longest=sys.maxsize))
    reasons = sorted(_reasons(found) & {*fail_on, "failed"})
    for reason in reasons:
        tell(_SAID[reason])
    return not reasons


_SAID = {
    "failed": "a stack cannot be previewed: see its errors",
    "replace": "--fail-on replace: something is replaced",
    "delete": "--fail-on delete: something is deleted",
    "policy": "--fail-on policy: a mandatory policy is broken",
}


def _reasons(report: Report) -> set[str]:
    found: set[str] = set()
    for stack in report.stacks:
        if stack.status == Status.FAILED:
            found.add("failed")
        found |= {change.op.value for change in stack.changes if change.op in (Op.REPLACE, Op.DELETE)}
        if any(violation.level == Level.MANDATORY for violation in stack.violations):
            found.add("policy")
    return found
