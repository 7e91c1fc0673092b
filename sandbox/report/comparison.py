"""What a change does to every stack: the base's stacks come up on emulated clouds, the work tree is previewed on top."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sandbox.base.errors import SandboxError
from sandbox.base.yaml_file import read_yaml
from sandbox.report import cost, environment, pools, releases
from sandbox.report.environment import Environment
from sandbox.report.model import Change, Cost, Report, StackReport, Status, Violation
from sandbox.report.revision import Revision
from sandbox.report.scratch import Scratch
from sandbox.report.worker import Outcome

Tell = Callable[[str], None]

APART = (
    *("docs/", "tests/", "bench/", "examples/", ".github/", ".ci/", ".sandbox/"),
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", ".gitignore", "renovate.json5"),
)
"""What no stack is made from: the program reads none of it. Whatever is not named here counts, unknown files too."""


def compare(
    project: Path, revision: Revision, scratch: Scratch, tell: Tell, asked: str = "", cloud: Path | None = None
) -> Report:
    """Compare the work tree with a revision, all stacks or the one that is `asked` for.

    A stack none of whose files differ is not brought up. `cloud` says what is in the emulated clouds before, as for `up`.
    Raises SandboxError when the base does not run.
    """
    base = scratch.folder / "base+files"
    revision.copy(base)
    differing = revision.differing()
    # What git ignores is nobody's but the user's own.
    stacks = sorted({_stack(path) for path in (*(path.name for path in base.iterdir()), *differing)} - {""})
    wanted = [asked] if asked else stacks
    if asked and asked not in stacks:
        raise SandboxError(f"there is no stack {asked!r}; stacks here: {', '.join(stacks) or 'none'}")
    touched = [stack for stack in wanted if _touched(stack, differing)]
    comparison = _Comparison(project, base, scratch, tell, cloud)
    if touched:
        scratch.build(tell)
        comparison.prepare()
    with ThreadPoolExecutor(max_workers=max(1, os.cpu_count() or 1)) as workers:
        try:
            reports = dict(zip(touched, workers.map(comparison.report, touched), strict=True))
        except BaseException:
            # The workers wait for their engines, and nobody for what they would say.
            scratch.stop()
            raise
    found = tuple(reports.get(stack) or StackReport(stack=stack, status=Status.UNCHANGED) for stack in wanted)
    return Report(base=f"{revision.name} ({revision.commit[:12]})", head=revision.head(), stacks=found)


def _stack(path: str) -> str:
    """The stack whose file this is; empty for every other file."""
    found = re.fullmatch(r"Pulumi\.([^/]+)\.yaml", path)
    return found[1] if found else ""


def _touched(stack: str, differing: Iterable[str]) -> bool:
    """Whether one of the files is among those that the stack is made from."""
    return any(_stack(path) == stack if _stack(path) else not path.startswith(APART) for path in differing)


class _Comparison:
    def __init__(self, project: Path, base: Path, scratch: Scratch, tell: Tell, cloud: Path | None) -> None:
        self._project, self._base, self._scratch, self._tell, self._cloud = project, base, scratch, tell, cloud
        self._before = self._after = Environment()

    def prepare(self) -> None:
        """Make the environments, once for all stacks."""
        self._before = environment.of(self._base, self._scratch.folder / "base+packages")
        self._after = environment.of(self._project, self._scratch.folder / "head+packages")

    def report(self, stack: str) -> StackReport:
        def tell(line: str) -> None:
            self._tell(f"{stack}: {line}")

        file = f"Pulumi.{stack}.yaml"
        before = Outcome()
        status = Status.PREVIEWED
        if not (self._project / file).exists():
            tell("its stack file is gone")
            return StackReport(stack=stack, status=Status.REMOVED)
        if (self._base / file).exists():
            tell("bringing the base up")
            before = self._scratch.run("up", stack, self._base, self._before, tell, self._cloud)
            if before.errors:
                said = "\n".join(before.errors)
                raise SandboxError(f"the base does not run: stack {stack!r} did not come up:\n{said}")
        else:
            status = Status.NEW
        tell("previewing the work tree")
        try:
            after = self._scratch.run("preview", stack, self._project, self._after, tell, self._cloud)
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
            violations=tuple(Violation.model_validate(found, strict=False) for found in after.violations),
            cost=None if after.errors else self._cost(file, before, after),
            warnings=tuple(after.warnings),
            errors=tuple(after.errors),
        )

    def _cost(self, file: str, before: Outcome, after: Outcome) -> Cost | None:
        # Prices are a place's, and the change may be a move.
        old, new = (
            _place(folder / file) if (folder / file).exists() else ("", "") for folder in (self._base, self._project)
        )
        # An older program has a system pool too and does not say so: told of one side alone it would look new.
        system = not before.outputs or "systemPool" in before.outputs
        return cost.cost(old, new, _pools(before), _pools(after, system=system))

    def _release_changes(self, before: Outcome, after: Outcome) -> tuple[str, ...]:
        old, new = before.outputs.get("release"), after.outputs.get("release")
        # Also of one release, which the base may have had otherwise: as a candidate, or against the rules.
        return tuple(releases.difference(self._base, old, self._project, new)) if old and new else ()


def _pools(told: Outcome, *, system: bool = True) -> list[dict[str, Any]]:
    """The pools in a stack's outputs, the system pool first."""
    pools = told.outputs.get("pools")
    # Another program may call something else that, and what depends on a new resource is a text before it is there.
    found = [told.outputs.get("systemPool") if system else None, *(pools if isinstance(pools, list) else [])]
    return [pool for pool in found if isinstance(pool, dict)]


def _place(stack_file: Path) -> tuple[str, str]:
    """The cloud and the location that a stack file names; empty where it names none."""
    settings = read_yaml(stack_file).get("config") or {}
    clouds = (value for key, value in settings.items() if key.endswith(":cloud") and isinstance(value, dict))
    cloud = next(clouds, {})
    return str(cloud.get("provider", "")), str(cloud.get("location", ""))
