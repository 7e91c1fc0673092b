"""`sandbox preview --base REV`: compares, writes the report, and fails where a reviewer must
look."""

import sys
from collections.abc import Collection
from pathlib import Path

import click

from review import comparison, markdown, pools
from review.model import Report, Status
from sandbox.base.home import Home
from sandbox.base.notices import Notify
from sandbox.engine import scratch
from sandbox.engine.changes import Level, Op
from sandbox.engine.revision import Revision


def preview(
    home: Home,
    stack: str,
    base: str,
    *,
    directory: Path | None,
    fail_on: Collection[str],
    as_json: bool,
    cloud: Path | None,
    notify: Notify,
) -> bool:
    """Write the report of all stacks, or of the named one, into a folder or to stdout; False when
    the command must fail.

    It fails for a stack that cannot be previewed, and for the events in `fail_on`: a resource is
    replaced or deleted, or a mandatory policy is broken. Raises SandboxError when the base is no
    revision or does not run.
    """
    revision = Revision.of(home.project, base)
    with scratch.opened(home.root, notify) as folder:
        report = comparison.compare(home.project, revision, folder, notify, stack, cloud)
    if directory:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "report.json").write_text(report.model_dump_json(indent=2), encoding="utf-8")
        (directory / "report.md").write_text(markdown.render(report), encoding="utf-8")
        notify(f"wrote report.json and report.md to {directory}")
        # A workflow shows each at its line of the stack file (.github/stack-file-problems.json).
        for failed in report.stacks:
            for error in failed.errors:
                notify(f"{failed.stack}: {error}")
    elif as_json:
        click.echo(report.model_dump_json(indent=2))
    else:
        # A terminal has room for the whole report.
        click.echo(markdown.render(report, longest=sys.maxsize))
    reasons = sorted(_reasons(report) & {*fail_on, "failed"})
    for reason in reasons:
        notify(_NOTICES[reason])
    return not reasons


_NOTICES = {
    "failed": "a stack cannot be previewed: see its errors in the report",
    "replace": "--fail-on replace: a resource is replaced, or the nodes of a pool are",
    "delete": "--fail-on delete: a resource is deleted",
    "policy": "--fail-on policy: a mandatory policy is broken",
}


def _reasons(report: Report) -> set[str]:
    reasons: set[str] = set()
    for stack in report.stacks:
        if stack.status == Status.FAILED:
            reasons.add("failed")
        reasons |= {
            change.op.value for change in stack.changes if change.op in (Op.REPLACE, Op.DELETE)
        }
        if any(map(pools.drifting, stack.changes)):
            reasons.add("replace")
        if any(violation.level == Level.MANDATORY for violation in stack.violations):
            reasons.add("policy")
    return reasons
