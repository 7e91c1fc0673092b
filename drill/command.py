"""`sandbox drill`: runs a scenario on copies of a stack's cluster, and reports."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile

import click
from filelock import FileLock, Timeout
from rich.console import Console

from drill import report
from drill.in_memory.provisioned_stack import reading
from drill.in_memory.run_in_memory import run_in_memory
from drill.in_memory.stack import Stack, read_stack
from drill.judge.hindsight import hindsight
from drill.judge.losses import losses_of
from drill.judge.outcome import ALONE, OURS, Row
from drill.judge.verdicts import failed
from drill.metrics.alert_times import Fired, alert_table, write_metrics
from drill.metrics.failed_scale_ups import failed_scale_ups
from drill.metrics.sampling import Sampling
from drill.play.external import checked_program
from drill.play.real_autoscaler import named_program
from drill.play.run import RunOptions, run_drill
from drill.play.source import CopiedCloud, Copy, copied, copy_cloud, has_node_pools
from drill.play.stack_facts import stack_pools
from drill.sides import Side, bring_up, check_side, compared_sides
from drill.tune.policies import compare_policies, without_real_programs
from drill.world.basis import Basis, Trial, basis_of_cloud, same_work_sentence
from drill.world.capacity import check_capacity, read_trace
from drill.world.fitting import require_fit
from drill.world.record import Record, Step
from drill.world.scenario import Scenario, Shortage, load_scenario
from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.base.notices import Notify
from sandbox.cluster.control_plane import ControlPlane
from sandbox.engine.scratch import DRILL
from sandbox.engine.scratch import opened as opened_scratch
from sandbox.toolchain import programs
from sandbox.toolchain.modules import METRICS

MOST_PODS = 3000
"""The most pods of a drill that is compared with fixed policies: more take a minute each."""

Progress = Callable[[str], Callable[[float, float], None]]


@dataclass(frozen=True)
class Request:
    """The options of the command: `Request("week", seed=1, directory=Path("report"))`."""

    scenario: str
    seed: int
    directory: Path
    factor: float | None = None
    against: str = ""
    config_file: Path | None = None
    traces: tuple[tuple[str, str, Path], ...] = ()
    """Machine, zone and file of published traces."""
    as_json: bool = False
    cluster: str | None = None
    """Another cluster of the emulated cloud."""
    shortage: Shortage | None = None
    """The signal of a shortage, in place of the scenario's own."""
    metrics: bool = False
    """Whether the cluster's metrics are sampled, and the stack's alerts judged by them."""
    cloud: Path | None = None
    """The cloud file of stacks that come up anew; by default the stack's own entries."""


@dataclass(frozen=True)
class Work:
    """A request with its scenario and traces, as all its sides need it."""

    home: Home
    request: Request
    scenario: Scenario
    traced: list[Step]
    notify: Notify


@dataclass(frozen=True)
class Drilled:
    """The result of one side: its record, the basis of its work, and the fixed policies."""

    record: Record
    basis: Basis
    policies: list[Row]
    alerts: list[Fired] | None = None
    """The stack's alerts that fired; None if nobody asked."""


def drill(home: Home, request: Request, notify: Notify, progress: Progress) -> bool:
    """Run the drill and write its report; return whether no verdict is red. Raises SandboxError."""
    work = _read_work(home, request, notify)
    sides = compared_sides(home, request.against, request.config_file)
    drilled = []
    with _alone(home), writable(request.directory):
        for side in sides[1:]:
            check_side(home, side, request.cloud, notify)
        first = _drill_side(work, sides[0], None, progress)
        drilled.append(first)
        for side in sides[1:]:
            same = first.basis.worked(first.record)
            drilled.append(_drill_side(work, side, same, progress))
    reports = [_report(each) for each in drilled]
    if len(reports) == 1:
        _show(request, reports[0], notify)
    else:
        names = (sides[0].name, sides[1].name)
        sentence = same_work_sentence(work.scenario, first.basis, names[0])
        _show(request, report.compare_reports(reports[0], reports[1], names, sentence), notify)
    if not request.as_json:
        for side, each in zip(sides, drilled, strict=True):
            if each.alerts is not None:
                Console().print(alert_table(side.name, each.alerts))
    return not failed(reports[-1].verdicts)


def _read_work(home: Home, request: Request, notify: Notify) -> Work:
    scenario = load_scenario(request.scenario)
    if request.shortage:
        scenario = scenario.model_copy(update={"shortage": request.shortage})
    traces = [read_trace(path, machine, zone) for machine, zone, path in request.traces]
    return Work(home, request, scenario, [step for trace in traces for step in trace], notify)


@contextmanager
def _alone(home: Home) -> Iterator[None]:
    """Allow one drill at a time: two would slow each other's real programs down."""
    home.root.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(home.root / "drill+running.lock.file", timeout=0):
            yield
    except Timeout:
        raise SandboxError(
            "another drill is running in this sandbox:"
            " wait until it has ended, then run this one again"
        ) from None


def _drill_side(work: Work, side: Side, same: Basis | None, progress: Progress) -> Drilled:
    """Drill one side, on the basis of the first side (`same`) or on its own."""
    home, request, notify = work.home, work.request, work.notify
    built = programs.ensure(METRICS, notify) if request.metrics else {}
    with opened_scratch(home.root, notify, DRILL) as scratch:
        source = home if side.live else bring_up(home, side, scratch, request.cloud, notify)

        def check(cloud: CopiedCloud) -> None:
            _check_cloud(work, cloud)

        if has_node_pools(source):
            plane, seen = copy_cloud(source, scratch.folder / "copy", request.cluster)
            check(seen)
            return _drill_provisioned(work, side, (plane, seen), same, progress)
        with copied(source, scratch.folder / "copy", notify, check, request.cluster) as copy:
            own = basis_of_cloud(copy.cloud, copy.cluster)
            trial = _trial(work, own, same or own)
            sampling = (
                _sampling(built["kube-state-metrics"], copy, scratch.folder) if built else None
            )
            options = RunOptions(
                *(request.factor, named_program(os.environ), sampling),
                progress=progress(side.name),
                notify=notify,
            )
            record = run_drill(home.stack, copy, trial, options)
            alerts = None
            if sampling:
                notify("the stack's alerts, by promtool")
                folder = request.directory / "metrics" / side.name.replace("/", "-")
                alerts = write_metrics(sampling.samples, copy.outputs, built["promtool"], folder)
            stack = read_stack(home.stack, copy, copy.client)
            # Hours of a shortage take long in memory, and no alert depends on them.
            policies = [] if sampling else _policies(stack, trial, record, notify)
            return Drilled(record, same or own, policies, alerts)


def _drill_provisioned(
    work: Work,
    side: Side,
    source: tuple[ControlPlane, CopiedCloud],
    same: Basis | None,
    progress: Progress,
) -> Drilled:
    """Drill a side with node auto-provisioning: in memory, by Karpenter's own code."""
    _, copy = source
    own = basis_of_cloud(copy.cloud, copy.cluster)
    trial = _trial(work, own, same or own)
    trial = replace(trial, scenario=without_real_programs(trial.scenario))
    with reading(work.home.stack, source, work.notify) as stack:
        stack = replace(stack, basis=same or own)
        record = run_in_memory(stack, trial, progress=progress(side.name))
        rows = compare_policies(
            replace(stack, basis=stack.basis.worked(record)), trial, (OURS, ALONE)
        )
        return Drilled(record, same or own, list(rows))


def _sampling(program: Path, copy: Copy, scratch: Path) -> Sampling:
    """Return what samples this cluster. Of the clouds only AKS shows its autoscaler's counters."""
    counters, pools = None, stack_pools(copy)
    if copy.provider == "azure" and any(pool.most is not None for pool in pools):
        with_gpus = {pool.name for pool in pools if pool.gpus}
        counters = partial(failed_scale_ups, with_gpus=with_gpus)
    return Sampling(program, copy.plane, copy.api, scratch / "metrics", counters)


def _check_cloud(work: Work, cloud: CopiedCloud) -> None:
    """Raise SandboxError for a stack on which the drill cannot run, before a process starts."""
    if cloud.node_pools and (work.request.metrics or work.request.factor):
        raise SandboxError(
            "a drill of node auto-provisioning runs in memory: leave out --metrics and --factor"
        )
    checked_program(os.environ, cloud.provider, work.request.factor)
    pools = stack_pools(cloud)
    require_fit(work.scenario, pools)
    if work.traced:
        check_capacity(work.traced, pools, path="--trace")


def _trial(work: Work, own: Basis, counted: Basis) -> Trial:
    request, steps, measured = work.request, work.traced, ""
    if steps:
        measured = "from " + ", ".join(path.name for _, _, path in request.traces)
    elif work.scenario.drawn_capacity:
        steps, measured = counted.drawn_week(request.seed, own), "drawn by measurements on AWS"
    return Trial(work.scenario, request.scenario, request.seed, steps, measured, counted)


def _policies(stack: Stack, trial: Trial, record: Record, notify: Notify) -> list[Row]:
    """Run the same work in memory by the stack's settings and by fixed policies."""
    if len(record.pods) > MOST_PODS:
        notify(f"not compared with fixed policies: more than {MOST_PODS:,} pods")
        return []
    notify("the same work by fixed policies, in memory")
    assert trial.basis is not None
    same = replace(stack, basis=trial.basis.worked(record))
    trial = replace(trial, scenario=without_real_programs(trial.scenario))
    return list(compare_policies(same, trial))


def _report(drilled: Drilled) -> report.Report:
    best = hindsight(drilled.record)
    return report.build(drilled.record, best, losses_of(drilled.record, best), drilled.policies)


def _show(request: Request, result: report.Report | report.Comparison, notify: Notify) -> None:
    """Print the result, then write its files: a full disk must not take the result with it."""
    if request.as_json:
        click.echo(report.to_json(result))
    else:
        Console().print(report.text(result))
    with writing(request.directory):
        report.write(result, request.directory)
    notify(f"the report is {request.directory / 'report.html'}")


@contextmanager
def writable(directory: Path) -> Iterator[None]:
    """Open the folder of a report before the drill, so that no result is lost to it.

    A folder that was made for a drill that failed is removed again. Raises SandboxError if no file
    can be written.
    """
    new = not directory.exists()
    with writing(directory):
        directory.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=directory) as probe:
            probe.write(b"drill")
            probe.flush()
    try:
        yield
    except BaseException:
        if new:
            with suppress(OSError):
                directory.rmdir()
        raise


@contextmanager
def writing(directory: Path) -> Iterator[None]:
    """Turn the errors of a folder that cannot be written into SandboxError."""
    try:
        yield
    except OSError as refused:
        raise SandboxError(
            f"the drill's report cannot be written into {directory}: {refused.strerror or refused};"
            " make room there, or name another folder with --report-dir"
        ) from refused
