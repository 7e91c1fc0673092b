"""The comparison: the base's stacks come up on emulated clouds, and the work tree is previewed on
top of them."""

import os
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from review import cost, drill, own_properties, pools, releases
from review.model import Cost, Report, StackReport, Status
from sandbox.base.errors import SandboxError
from sandbox.base.notices import Notify
from sandbox.base.yaml_file import read_yaml
from sandbox.engine import environment
from sandbox.engine.changes import Change, Violation
from sandbox.engine.environment import Environment
from sandbox.engine.revision import Revision
from sandbox.engine.scratch import Scratch
from sandbox.engine.worker import Outcome

IRRELEVANT = (
    *("docs/", "tests/", "bench/", "examples/", ".github/", ".ci/", ".sandbox/"),
    *(
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "Makefile",
        ".gitignore",
        "renovate.json5",
    ),
)
"""Files that no stack depends on: the program reads none of them. All other files count, unknown
ones too."""


def compare(
    project: Path,
    revision: Revision,
    scratch: Scratch,
    notify: Notify,
    only: str = "",
    cloud: Path | None = None,
) -> Report:
    """Compare the work tree with a revision, for all stacks or `only` one.

    A stack without a differing file is not brought up. `cloud` is a cloud file, as for `up`.
    Raises SandboxError when the base does not run.
    """
    base = scratch.folder / "base+files"
    revision.copy(base)
    differing = revision.differing()
    # A stack file that git ignores is the user's own.
    stacks = sorted(
        {_stack(path) for path in (*(path.name for path in base.iterdir()), *differing)} - {""}
    )
    selected = [only] if only else stacks
    if only and only not in stacks:
        raise SandboxError(
            f"there is no stack {only!r}; stacks here: {', '.join(stacks) or 'none'}"
        )
    touched = [stack for stack in selected if _touched(stack, differing)]
    comparison = _Comparison(project, base, scratch, notify, cloud, revision)
    if touched:
        scratch.build(notify)
        comparison.prepare()
    with ThreadPoolExecutor(max_workers=max(1, os.cpu_count() or 1)) as workers:
        try:
            reports = dict(zip(touched, workers.map(comparison.report, touched), strict=True))
        except BaseException:
            # The workers wait for their engines, whose results nobody needs any more.
            scratch.stop()
            raise
    unchanged = (StackReport(stack=stack, status=Status.UNCHANGED) for stack in selected)
    all_reports = tuple(reports.get(report.stack, report) for report in unchanged)
    return Report(
        base=f"{revision.name} ({revision.commit[:12]})", head=revision.head(), stacks=all_reports
    )


def _stack(path: str) -> str:
    """Return the stack of a stack file; empty for every other file."""
    match = re.fullmatch(r"Pulumi\.([^/]+)\.yaml", path)
    return match[1] if match else ""


def _touched(stack: str, differing: Iterable[str]) -> bool:
    """Return whether the stack depends on one of the files."""
    return any(
        _stack(path) == stack if _stack(path) else not path.startswith(IRRELEVANT)
        for path in differing
    )


@dataclass
class _Comparison:
    project: Path
    base: Path
    scratch: Scratch
    notify: Notify
    cloud: Path | None
    revision: Revision
    before: Environment = field(default_factory=Environment)
    after: Environment = field(default_factory=Environment)

    def prepare(self) -> None:
        """Make the environments, once for all stacks."""
        folder = self.scratch.folder
        self.before = environment.environment_of(self.base, folder / "base+packages")
        self.after = environment.environment_of(self.project, folder / "head+packages")

    def report(self, stack: str) -> StackReport:
        def notify(line: str) -> None:
            self.notify(f"{stack}: {line}")

        file = f"Pulumi.{stack}.yaml"
        before = Outcome()
        status = Status.PREVIEWED
        if not (self.project / file).exists():
            notify("its stack file is missing")
            return StackReport(stack=stack, status=Status.REMOVED)
        if (self.base / file).exists():
            notify("bringing the base up")
            before = self.scratch.run("up", stack, self.base, self.before, notify, self.cloud)
            if before.errors:
                errors = "\n".join(before.errors)
                raise SandboxError(
                    f"the base does not run: stack {stack!r} did not come up:\n{errors}"
                )
        else:
            status = Status.NEW
        notify("previewing the work tree")
        try:
            after = self.scratch.run("preview", stack, self.project, self.after, notify, self.cloud)
        except SandboxError as died:
            after = Outcome(errors=[str(died)])
        changes = tuple(Change.model_validate(change, strict=False) for change in after.changes)
        return StackReport(
            stack=stack,
            status=Status.FAILED if after.errors else status,
            release=(before.outputs.get("release"), after.outputs.get("release")),
            release_changes=self._release_changes(before, after),
            changes=changes,
            replaced_pools=pools.replaced(changes, _pools(before)),
            own_properties=own_properties.compared(self.base / file, self.project / file),
            violations=tuple(
                Violation.model_validate(broken, strict=False) for broken in after.violations
            ),
            cost=None if after.errors else self._cost(file, before, after),
            switches=status == Status.PREVIEWED
            and _provisions(self.project / file)
            and not _provisions(self.base / file),
            drill=self._drill(stack, changes, before, after)
            if status == Status.PREVIEWED and not after.errors
            else "",
            warnings=tuple(after.warnings),
            errors=tuple(after.errors),
        )

    def _drill(self, stack: str, changes: Iterable[Change], before: Outcome, after: Outcome) -> str:
        """Return the drill commands; they name the revision as the user did, else by its commit."""
        named = (self.revision.name, self.revision.commit)
        written = (
            drill.command(stack, name, changes, before.outputs, after.outputs) for name in named
        )
        return next(filter(None, written), "")

    def _cost(self, file: str, before: Outcome, after: Outcome) -> Cost | None:
        # Prices depend on the location, which the change may move.
        old, new = (
            _place(folder / file) if (folder / file).exists() else ("", "")
            for folder in (self.base, self.project)
        )
        # An older program has a system pool without an output for it: priced on one side alone it
        # would look new.
        system = not before.outputs or "systemPool" in before.outputs
        return cost.cost(old, new, _pools(before), _pools(after, system=system))

    def _release_changes(self, before: Outcome, after: Outcome) -> tuple[str, ...]:
        old, new = before.outputs.get("release"), after.outputs.get("release")
        # Also for one release: the base may have it in another state, as a candidate or against the
        # rules.
        return tuple(releases.difference(self.base, old, self.project, new)) if old and new else ()


def _pools(outcome: Outcome, *, system: bool = True) -> list[dict[str, Any]]:
    """Return the pools in a stack's outputs, the system pool first."""
    # Another program may use the name for something else, and an output of a new resource is a text
    # until the resource exists.
    all_pools = [
        outcome.outputs.get("systemPool") if system else None,
        *pools.listed(outcome.outputs.get("pools")),
    ]
    return [pool for pool in all_pools if isinstance(pool, dict)]


def _place(stack_file: Path) -> tuple[str, str]:
    """Return the cloud and the location that a stack file names; empty where it names none."""
    cloud = _cloud(stack_file)
    return str(cloud.get("provider", "")), str(cloud.get("location", ""))


def _provisions(stack_file: Path) -> bool:
    """Return whether a stack file has Karpenter make its machines."""
    return _cloud(stack_file).get("nodeProvisioning") is not None


def _cloud(stack_file: Path) -> dict[str, Any]:
    settings = read_yaml(stack_file).get("config") or {}
    entries = settings.items() if isinstance(settings, dict) else ()
    clouds = (
        value for key, value in entries if str(key).endswith(":cloud") and isinstance(value, dict)
    )
    return next(clouds, {})
