"""A drill in memory, from a stack's data to its record."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, cast

from drill.in_memory.cloud import Pools
from drill.in_memory.controllers import Controllers
from drill.in_memory.objects import Objects
from drill.in_memory.stack import Stack
from drill.play.captured import Captured
from drill.play.clock import Clock
from drill.play.drill import Drill
from drill.play.observed import Listener, Observed
from drill.play.run import told_apart
from drill.play.settling import Settling
from drill.world import record
from drill.world.scenario import Scenario
from drill.world.workloads import SPOT
from sandbox.autoscaler.autoscaler_options import Options
from sandbox.autoscaler.scaler import Autoscaler
from sandbox.base.errors import SandboxError
from sandbox.cluster import plugins
from sandbox.kubernetes.client import Object

AUTOSCALER = "stand-in, in memory"
Admit = Callable[[Drill, Object], Object]
"""Admission of a pod: the pod as it is then."""


def admit_by_defaults(stack: Stack) -> Admit:
    """Admit pods as the stack's policies do: one that may run on spot gets the tolerations and the affinity for it."""

    def admit(drill: Drill, pod: Object) -> Object:
        return placed(pod, stack.placement) if SPOT in pod["metadata"]["annotations"] else pod

    return admit


def placed(pod: Object, placement: Any) -> Object:
    """A pod with a placement of the contract."""
    spec = pod["spec"]
    tolerations = [*(spec.get("tolerations") or ()), *(placement.get("tolerations") or ())]
    more = {key: value for key, value in placement.items() if key != "tolerations"}
    return {**pod, "spec": {**spec, **more, "tolerations": tolerations}}


def run(
    stack: Stack,
    scenario: Scenario,
    *,
    name: str,
    seed: int,
    steps: Sequence[record.Step] = (),
    admit: Admit | None = None,
    follow: Callable[[Drill], None] = lambda drill: None,
    measured: str = "",
) -> record.Record:
    """Run a scenario on a stack. `admit` admits the pods of the work, `follow` may plan something by the drill's clock.

    Raises SandboxError for work that needs a drill over the real programs.
    """
    if any(work.kind == "Workflow" or work.greedy for work in scenario.work):
        raise SandboxError(
            f"scenario {name} has work that admission policies or Argo decide about: `sandbox drill` runs it"
        )
    began = time.monotonic()
    captured, clock = Captured(), Clock()
    cloud = Pools(stack, captured)
    admitting = admit or admit_by_defaults(stack)

    def control(listener: Listener) -> tuple[Observed, Settling]:
        def heard(kind: str, before: Object | None, after: Object | None) -> None:
            if (
                before is None
                and after is not None
                and kind in ("Job", "StatefulSet", "Deployment")
            ):
                controllers.owned(after)
            listener(kind, before, after)

        objects = Objects(heard, stack.daemon_sets, _maps(stack), lambda pod: admitting(drill, pod))
        controllers = Controllers(objects)
        return cast(Observed, objects), cast(Settling, controllers)

    drill = Drill(
        scenario,
        seed,
        clock,
        cast(Any, None),
        cast(Any, _Classes(stack)),
        cloud,
        captured,
        stack.name,
        lambda: Autoscaler(stack.provider, Options(), Random(seed)),
        plugins.plugin(stack.provider).spot,
        cast(Any, None),
        steps=steps,
        basis=stack.basis,
        control=control,
    )
    follow(drill)
    drill.run()
    nodes, pods = told_apart(drill.machines.all, drill.kubelets.pods)
    return record.Record(
        scenario=name,
        description=scenario.description,
        stack=stack.name,
        provider="azure" if stack.provider == "azure" else "gcp",
        location=stack.location,
        seed=seed,
        clock=record.Clock(scenario.length, None, time.monotonic() - began),
        autoscaler=AUTOSCALER,
        settings={key: str(value) for key, value in stack.profile.items()},
        pools=list(stack.pools),
        nodes=nodes,
        pods=pods,
        work=list(drill.kubelets.work.values()),
        capacity=drill.faults.capacity,
        events=sorted(drill.events, key=lambda event: event.at),
        price_source=stack.price_source,
        measured=measured,
        accepted_wait=stack.accepted_wait,
        slowdown=scenario.slowdown,
        shortage=drill.machines.shortage,
    )


class _Classes:
    """The part of the API server that a drill reads once."""

    def __init__(self, stack: Stack) -> None:
        self._items = list(stack.classes)

    def get(self, path: str) -> Object:
        return {"items": self._items}


def _maps(stack: Stack) -> dict[tuple[str, str], Object]:
    return {place: {"data": dict(data)} for place, data in stack.maps.items()}
