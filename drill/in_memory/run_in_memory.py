"""A drill in memory, from a stack's data to its record."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any, cast

from drill.in_memory.controllers import Controllers
from drill.in_memory.memory_cloud import MemoryCloud
from drill.in_memory.objects import Objects
from drill.in_memory.stack import Stack
from drill.play.clock import Clock
from drill.play.drill import Cluster, Drill
from drill.play.observed import Listener, Observed
from drill.play.settling import Settling
from drill.play.source import Captured
from drill.world import record
from drill.world.basis import Trial
from drill.world.scenario import Scenario
from drill.world.workloads import SPOT
from sandbox.autoscaler.api import ApiServer
from sandbox.autoscaler.autoscaler_options import Options
from sandbox.autoscaler.scaler import Autoscaler
from sandbox.base.errors import SandboxError
from sandbox.cluster import plugins
from sandbox.kubernetes.client import Object

AUTOSCALER = "stand-in, in memory"
PROVISIONER = "Karpenter 1.14.1, in memory"
Admit = Callable[[Drill, Object], Object]
"""Admits a pod: returns it as it is then."""


def placed(pod: Object, placement: Any) -> Object:
    """Return a pod with a placement of the contract."""
    spec = pod["spec"]
    tolerations = [*(spec.get("tolerations") or ()), *(placement.get("tolerations") or ())]
    return {**pod, "spec": {**spec, **placement, "tolerations": tolerations}}


def kept(pod: Object) -> Object:
    """Return a pod that Karpenter does not move, as the stack's policy makes it."""
    notes = {**pod["metadata"]["annotations"], "karpenter.sh/do-not-disrupt": "true"}
    return {**pod, "metadata": {**pod["metadata"], "annotations": notes}}


def run_in_memory(
    stack: Stack,
    trial: Trial,
    admit: Admit | None = None,
    follow: Callable[[Drill], None] | None = None,
    progress: Callable[[float, float], None] = lambda now, length: None,
) -> record.Record:
    """Run a trial on a stack, with the stack's basis.

    `admit` admits the pods of the work, by default as the stack's policies do. `follow` may plan
    actions by the drill's clock. Raises SandboxError for work that needs the real programs, and
    when Karpenter ends.
    """
    if any(work.kind == "Workflow" or work.greedy for work in trial.scenario.work):
        raise SandboxError(
            f"scenario {trial.name} has work that admission policies or Argo decide about:"
            " `sandbox drill` runs it"
        )
    began, captured, random = time.monotonic(), Captured(), Random(trial.seed)

    def admitted(pod: Object) -> Object:
        if admit:
            return admit(drill, pod)
        if SPOT in pod["metadata"]["annotations"]:
            return placed(pod, stack.placement)
        return kept(pod) if stack.engine else pod

    def control(listener: Listener) -> tuple[Observed, Settling]:
        def heard(kind: str, before: Object | None, after: Object | None) -> None:
            if before is None and after and kind in ("Job", "StatefulSet", "Deployment"):
                controllers.add_owner(after)
            listener(kind, before, after)

        maps = {place: {"data": dict(data)} for place, data in stack.maps.items()}
        objects = Objects(heard, stack.daemon_sets, maps, admitted)
        controllers = Controllers(objects)
        return cast(Observed, objects), cast(Settling, controllers)

    plugin, engine = plugins.plugin(stack.provider), stack.engine
    facts = plugin.provisioned_spot or plugin.spot if engine else plugin.spot
    nothing, api = cast(Any, None), cast(ApiServer, _Classes(stack))
    drill = Drill(
        replace(
            trial, basis=stack.basis, scenario=_told(trial.scenario) if engine else trial.scenario
        ),
        Clock(),
        Cluster(
            *(stack.name, MemoryCloud(stack, captured), captured, facts, nothing, api, nothing)
        ),
        engine.start if engine else lambda: Autoscaler(stack.provider, Options(), random),
        control=control,
        progress=progress,
    )
    if follow:
        follow(drill)
    try:
        drill.run()
    finally:
        if engine and hasattr(drill, "scaler"):
            drill.scaler.close()
    clock = record.Clock(trial.scenario.length, None, time.monotonic() - began, ())
    if engine:
        return replace(drill.make_record(stack, clock, PROVISIONER), settings=engine.shown)
    return drill.make_record(stack, clock, AUTOSCALER)


def _told(scenario: Scenario) -> Scenario:
    """Return a scenario in which Azure says of each machine that it does not make it.

    Karpenter asks for virtual machines, whose requests end with an error; in how many seconds no
    source says.
    """
    return scenario.model_copy(update={"shortage": scenario.shortage or "20s"})


class _Classes:
    """The ComputeClasses, which a drill reads once from the API server."""

    def __init__(self, stack: Stack) -> None:
        self._items = list(stack.classes)

    def get(self, path: str) -> Object:
        return {"items": self._items}
