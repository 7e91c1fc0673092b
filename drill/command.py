"""`sandbox drill`: runs a scenario on copies of a stack's cluster, and reports."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import click
from filelock import FileLock, Timeout
from rich.console import Console

from drill import report
from drill.folder import writable, writing
from drill.in_memory import stack as stacks
from drill.in_memory.stack import Stack
from drill.judge.hindsight import hindsight
from drill.judge.losses import lost_to
from drill.judge.outcome import Row
from drill.judge.verdicts import failed
from drill.play import external
from drill.play import run as running
from drill.play.real_autoscaler import named
from drill.play.source import CopiedCloud, copied
from drill.tune.policies import Trial, compared, plain
from drill.world import basis, fitting
from drill.world import scenario as scenarios
from drill.world.basis import Basis
from drill.world.capacity import checked
from drill.world.record import Record, Step
from drill.world.scenario import Scenario
from drill.world.trace import read_trace
from sandbox.base.errors import SandboxError
from sandbox.base.files import write_private
from sandbox.base.home import Home
from sandbox.base.notices import Notify
from sandbox.base.yaml_file import read_yaml
from sandbox.engine import environment
from sandbox.engine.cloud_file import CloudFile
from sandbox.engine.revision import Revision
from sandbox.engine.scratch import DRILL, Scratch
from sandbox.engine.scratch import opened as opened_scratch

FOLDER = "drill"
"""The folder of the last report, below the stack's home."""
MOST_PODS = 3000
"""A drill of more pods is not compared with fixed policies: each would take a minute and more."""


@dataclass(frozen=True)
class Request:
    """The options of the command."""

    scenario: str
    seed: int
    factor: float | None
    against: str
    config_file: Path | None
    traces: tuple[tuple[str, str, Path], ...]
    """Machine, zone and file of published traces."""
    directory: Path
    as_json: bool
    cluster: str | None = None
    """The name of another cluster of the emulated cloud."""
    shortage: scenarios.Shortage | None = None
    """How a shortage is told, in place of the scenario's own."""
    cloud: Path | None = None
    """The cloud file of stacks that come up anew; by default what the stack's own cloud files gave."""


@dataclass(frozen=True)
class Side:
    """One of the settings under comparison: a revision, a stack file, or the stack as it is."""

    name: str
    config_file: Path | None = None
    revision: Revision | None = None
    live: bool = False


def drill(
    home: Home,
    request: Request,
    notify: Notify,
    progress: Callable[[str], Callable[[float, float], None]],
) -> bool:
    """Run the drill and write its report; False when a verdict is red. Raises SandboxError."""
    scenario = scenarios.load(request.scenario)
    if request.shortage:
        scenario = scenario.model_copy(update={"shortage": request.shortage})
    traced = [
        step for machine, zone, path in request.traces for step in read_trace(path, machine, zone)
    ]
    sides = _sides(home, request)
    with _alone(home), writable(request.directory):
        for side in sides[1:]:
            _check(home, side, request, notify)
        first, counted, policies = _record(
            home, sides[0], scenario, request, traced, None, notify, progress(sides[0].name)
        )
        reports = [_report(first, policies)]
        for side in sides[1:]:
            same = counted.worked(first)
            found, _, rows = _record(
                home, side, scenario, request, traced, same, notify, progress(side.name)
            )
            reports.append(_report(found, rows))
    result: report.Report | report.Comparison = reports[0]
    if len(reports) == 2:
        names = (sides[0].name, sides[1].name)
        result = report.compared(
            reports[0], reports[1], names, basis.sentence(scenario, counted, names[0])
        )
    # Before the files: a disk that is full meanwhile must not take the result with it.
    if request.as_json:
        click.echo(report.to_json(result))
    else:
        Console().print(report.text(result))
    with writing(request.directory):
        report.write(result, request.directory)
    notify(f"the report is {request.directory / 'report.html'}")
    return not failed(reports[-1].verdicts)


@contextmanager
def _alone(home: Home) -> Iterator[None]:
    """One drill at a time: two would slow each other's real programs down."""
    home.root.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(home.root / "drill+running.lock.file", timeout=0):
            yield
    except Timeout:
        raise SandboxError(
            "another drill is running in this sandbox: wait until it has ended, then run this one again"
        ) from None


def _sides(home: Home, request: Request) -> list[Side]:
    """The settings to compare: a revision before what is here, another stack file after it."""
    if not request.against:
        return [Side("now", request.config_file, live=request.config_file is None)]
    # Both come up anew, so that both are what their files say.
    given = request.config_file or home.config_file
    path = Path(request.against)
    if path.is_file():
        own, other = given or home.project / f"Pulumi.{home.stack}.yaml", path.resolve()
        alike = own.name == other.name
        names = [str(each) if alike else each.name for each in (own, other)]
        return [Side(names[0], given), Side(names[1], other)]
    revision = Revision.of(home.project, request.against, "--against", "no file, and no revision")
    return [
        Side(revision.name, revision=revision),
        Side(given.name if given else "work tree", given),
    ]


def _record(
    home: Home,
    side: Side,
    scenario: Scenario,
    request: Request,
    traced: list[Step],
    same: Basis | None,
    notify: Notify,
    progress: Callable[[float, float], None],
) -> tuple[Record, Basis, list[Row]]:
    """The record of one side, the basis of its work (`same`, or the stack's own), and the same work by fixed policies."""
    program = named(os.environ)
    with opened_scratch(home.root, notify, DRILL) as scratch:
        source = home if side.live else brought_up(home, side, scratch, request.cloud, notify)

        def check(cloud: CopiedCloud) -> None:
            external.chosen(os.environ, cloud.provider, request.factor)
            found = running.pools(cloud)
            fitting.require(scenario, found)
            if traced:
                checked(traced, found, path="--trace")

        with copied(source, scratch.folder / "copy", notify, check, request.cluster) as copy:
            own = basis.of(copy.cloud, copy.cluster)
            counted = same or own
            steps, measured = _steps(own, counted, scenario, request, traced)
            record = running.run(
                home.stack,
                copy,
                request.scenario,
                scenario,
                seed=request.seed,
                factor=request.factor,
                steps=steps,
                measured=measured,
                basis=counted,
                progress=progress,
                program=program,
                notify=notify,
            )
            stack = stacks.of(home.stack, copy, copy.client)
            return (
                record,
                counted,
                _policies(stack, scenario, request, record, counted, steps, notify),
            )


def _policies(
    stack: Stack,
    scenario: Scenario,
    request: Request,
    record: Record,
    counted: Basis,
    steps: Sequence[Step],
    notify: Notify,
) -> list[Row]:
    """The stack's settings and fixed policies on a drill's work, in memory; none for a drill of very many pods."""
    if len(record.pods) > MOST_PODS:
        notify(f"not compared with fixed policies: more than {MOST_PODS:,} pods")
        return []
    notify("the same work by fixed policies, in memory")
    trial = Trial(plain(scenario), request.scenario, request.seed, steps)
    return list(compared(replace(stack, basis=counted.worked(record)), trial))


def _check(home: Home, side: Side, request: Request, notify: Notify) -> None:
    """Check the second side before the first one's drill begins: what its file gets wrong is said in seconds."""
    if side.config_file is None:
        return
    read_yaml(side.config_file)
    notify(f"{side.name}: checking it")
    with opened_scratch(home.root, notify, DRILL) as scratch:
        scratch.build(notify)
        own = environment.of(home.project, scratch.folder / "base+packages")
        cloud = request.cloud or _kept_cloud(home, scratch.folder)
        outcome = scratch.run(
            "preview", home.stack, home.project, own, notify, cloud, side.config_file
        )
    if outcome.errors:
        raise SandboxError(
            f"{side.name}: stack {home.stack!r} would not come up:\n" + "\n".join(outcome.errors)
        )


def brought_up(
    home: Home, side: Side, scratch: Scratch, cloud: Path | None, notify: Notify
) -> Home:
    """The stack, brought up in a scratch folder by the files of a side."""
    project = home.project
    if side.revision:
        project = scratch.folder / "base+files"
        side.revision.copy(project)
    scratch.build(notify)
    notify(f"{side.name}: bringing the stack up beside yours")
    own = environment.of(project, scratch.folder / "base+packages")
    outcome = scratch.run(
        "up",
        home.stack,
        project,
        own,
        notify,
        cloud or _kept_cloud(home, scratch.folder),
        side.config_file,
    )
    if outcome.errors:
        raise SandboxError(
            f"{side.name}: stack {home.stack!r} did not come up:\n" + "\n".join(outcome.errors)
        )
    return Home(home.stack, project, scratch.folder, side.config_file)


def _kept_cloud(home: Home, folder: Path) -> Path | None:
    """What the stack's own cloud files gave, as a cloud file in a folder; None where there was none."""
    kept = CloudFile.kept(home.cloud)
    if kept == CloudFile():
        return None
    path = folder / "base+cloud.yaml"
    # JSON is YAML. What it holds may be private.
    write_private(path, json.dumps(kept.given()).encode())
    return path


def _steps(
    own: Basis, counted: Basis, scenario: Scenario, request: Request, traced: list[Step]
) -> tuple[list[Step], str]:
    if traced:
        return traced, "from " + ", ".join(path.name for _, _, path in request.traces)
    if not scenario.drawn_capacity:
        return [], ""
    return counted.drawn_week(request.seed, own), "drawn by measurements on AWS"


def _report(record: Record, policies: Sequence[Row]) -> report.Report:
    best = hindsight(record)
    return report.build(record, best, lost_to(record, best), policies)
