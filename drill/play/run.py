"""A drill over the real programs, from a copied cluster to its record."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, Protocol

from drill.play.clock import Clock
from drill.play.drill import Cluster, Drill
from drill.play.external import CAVEAT, DISTORTIONS, External
from drill.play.observed import Observed
from drill.play.pod_life import Executor, Nothing
from drill.play.real_autoscaler import RealAutoscaler
from drill.play.source import Copy
from drill.play.stack_facts import stack_facts
from drill.world import argo, record, workloads
from drill.world.basis import Trial
from drill.world.scenario import Scenario
from drill.world.scenario_texts import first
from sandbox.autoscaler import gke_figures
from sandbox.autoscaler.autoscaler_options import Options
from sandbox.autoscaler.scaler import Autoscaler
from sandbox.base.notices import Notify
from sandbox.cluster import plugins

STAND_IN = "stand-in"
_DISCRETE = (
    "The clock jumps from one event to the next. The real scheduler and controllers answer each"
    " event at once. The seconds that they would take pass for nothing: the scheduler's retries of"
    " up to 10 s, the Job controller's 10 s and more before it replaces a failed pod.",
    "A new machine registers after {boot:.0f} s, a container starts 5 s after its pod is bound,"
    " GPUs are reported 10 s after the device plugin's start, and a pod ends 2 s after SIGTERM:"
    " assumed figures.",
)
_PIPELINES = (
    "Argo's own waits pass for nothing: up to 10 s until it looks at a pipeline again, and the"
    " back-off of a retry."
)
_PACED = "Time passes at most {factor:g} times as fast as real time; nothing else changes by that."
_BARE = (
    "Kubernetes {version} has no MutatingAdmissionPolicy: the drill's training pods carry spot's"
    " toleration themselves, as users must write it there."
)


class Sampler(Protocol):
    """The calls of `drill.metrics.sampling.Sampling`."""

    def plan(
        self, clock: Clock, observed: Observed, events: Sequence[record.Event], length: float
    ) -> None: ...
    def stop(self) -> None: ...


@dataclass(frozen=True)
class RunOptions:
    """How a drill is run: `RunOptions(factor=5)`."""

    factor: float | None = None
    """Time passes at most so many times as fast as real time; None for a clock that never waits."""
    program: Path | None = None
    """A real cluster-autoscaler in place of the sandbox's own; it runs in real time."""
    metrics: Sampler | None = None
    """Samples the cluster's metrics by the drill's clock."""
    executor: Executor = field(default_factory=Nothing)
    progress: Callable[[float, float], None] = lambda now, length: None
    """Called with the seconds that have passed and those of the whole scenario."""
    notify: Notify = lambda _: None


def run_drill(
    stack: str, copy: Copy, trial: Trial, options: RunOptions | None = None
) -> record.Record:
    """Run a trial on a copy of a stack's cluster. Raises SandboxError."""
    options = options or RunOptions()
    began = time.monotonic()
    clock = Clock(1.0 if options.program else options.factor)
    external: list[External] = []
    drill = Drill(
        trial,
        clock,
        _cluster(copy),
        lambda: external[0].restarted() if external else _stand_in(copy, trial.seed),
        options.progress,
        _tolerations(copy),
        start_argo(copy, trial.scenario, options.notify),
    )
    drill.kubelets.executor = options.executor
    facts = stack_facts(stack, copy)
    real = _real_autoscaler(options.program, copy, drill) if options.program else None
    if real:
        external.append(
            External(
                *(real, clock, drill.observed, copy.client),
                *(drill.machines, drill.nodes, drill.events),
            )
        )
    try:
        if options.metrics:
            options.metrics.plan(clock, drill.observed, drill.events, trial.scenario.length)
        drill.run()
    finally:
        for each in external:
            each.stop()
        if options.metrics:
            options.metrics.stop()
    wall = time.monotonic() - began
    return drill.make_record(
        facts,
        record.Clock(
            trial.scenario.length, clock.factor, wall, _distortions(drill, real, options.factor)
        ),
        f"cluster-autoscaler {real.version}" if real else STAND_IN,
        _caveats(copy, real, drill.settling.notes),
    )


def _cluster(copy: Copy) -> Cluster:
    facts, scheduler = plugins.plugin(copy.provider).spot, copy.plane.processes["kube-scheduler"]
    return Cluster(
        *(copy.cluster, copy.cloud, copy.captured, facts),
        *(copy.client, copy.api, scheduler.paused, copy.version),
    )


def _stand_in(copy: Copy, seed: int) -> Autoscaler:
    return Autoscaler(copy.provider, Options(), Random(seed))


def _real_autoscaler(program: Path, copy: Copy, drill: Drill) -> RealAutoscaler:
    groups = drill.machines.groups()
    first_sizes = [replace(group, nodes=group.nodes[: group.least]) for group in groups.groups]
    return RealAutoscaler(program, copy.plane, first_sizes, groups.profile, copy.plane.directory)


def _distortions(
    drill: Drill, real: RealAutoscaler | None, factor: float | None
) -> tuple[str, ...]:
    """Say what the clock of a drill changes."""
    texts = DISTORTIONS if real else _DISCRETE
    found = [text.format(boot=drill.scenario.boot) for text in texts]
    if drill.further:
        found.append(_PIPELINES)
    if factor is not None and not real:
        found.append(_PACED.format(factor=factor))
    return tuple(found)


def start_argo(copy: Copy, scenario: Scenario, notify: Notify) -> Mapping[str, str]:
    """Start Argo's controller in the copy if some work is a Workflow; return its kinds with paths.

    The program is built first if it is missing.
    """
    if not any(work.kind == "Workflow" for work in scenario.work):
        return {}
    copy.client.apply(workloads.namespace(argo.NAMESPACE), "sandbox-drill", force=True)
    defaults = argo.workflow_defaults() if scenario.retries else None
    argo.start_controller(copy.plane, copy.client, notify, defaults, argo.AT_ONCE)
    return argo.PATHS


def _tolerations(copy: Copy) -> list[Any]:
    """Return the tolerations that users must write themselves: no policy adds them below 1.36."""
    if int(copy.version.split(".")[1]) >= 36:
        return []
    contract = copy.outputs.get("contract") or {}
    return list(contract.get("snippets", {}).get("gpu-prefer-spot", {}).get("tolerations", ()))


def _caveats(copy: Copy, real: RealAutoscaler | None, notes: Sequence[str]) -> tuple[str, ...]:
    caveats = [gke_figures.SENTENCE] if copy.provider == "gcp" else []
    if _tolerations(copy):
        caveats.append(_BARE.format(version=copy.version))
    if real:
        caveats.append(CAVEAT.format(version=real.version))
    return (*caveats, *undone(notes))


def undone(notes: Sequence[str]) -> tuple[str, ...]:
    """Say what the cluster's programs did not do: the figures may lack it."""
    return () if not notes else (f"A program did not do what seemed due: {first(list(notes))}.",)
