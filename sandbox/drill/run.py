"""A drill from a copied cluster to its record."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from sandbox.cluster import plugins
from sandbox.cluster.autoscaler import gke_figures
from sandbox.cluster.autoscaler.options import Options
from sandbox.cluster.autoscaler.scaler import Autoscaler
from sandbox.drill import machines, record
from sandbox.drill.clock import Clock
from sandbox.drill.drill import Drill
from sandbox.drill.external import CAVEAT, DISTORTIONS, External
from sandbox.drill.real_autoscaler import RealAutoscaler
from sandbox.drill.scenario import Scenario
from sandbox.drill.source import CopiedCloud, Copy
from sandbox.report import prices

STAND_IN = "stand-in"
_DISCRETE = (
    "The clock jumps from one event to the next. The real scheduler and controllers answer each event at once. The seconds"
    " that they would take pass for nothing: the scheduler's retries of up to 10 s, the Job controller's 10 s and more before"
    " it replaces a failed pod.",
    "A new machine registers after {boot:.0f} s, a container starts 5 s after its pod is bound, and GPUs are reported 10 s"
    " after the device plugin's start: assumed figures.",
)
_PACED = "Time passes at most {factor:g} times as fast as real time; nothing else changes by that."
_BARE = (
    "Kubernetes {version} has no MutatingAdmissionPolicy: the drill's training pods carry spot's toleration themselves, as users"
    " must write it there."
)


def run(
    stack: str,
    copy: Copy,
    name: str,
    scenario: Scenario,
    *,
    seed: int,
    factor: float | None = None,
    steps: Sequence[record.Step] = (),
    measured: str = "",
    progress: Callable[[float, float], None] = lambda now, length: None,
    program: Path | None = None,
) -> record.Record:
    """Run a scenario on a copy of a stack's cluster; `program` is a real cluster-autoscaler in place of the sandbox's own.

    Raises SandboxError.
    """
    began = time.monotonic()
    clock = Clock(1.0 if program else factor)
    real: RealAutoscaler | None = None
    external: External | None = None

    def autoscaler() -> Autoscaler | External:
        return external.restarted() if external else Autoscaler(copy.provider, Options(), Random(seed))

    drill = Drill(
        scenario,
        seed,
        clock,
        copy.client,
        copy.api,
        copy.cloud,
        copy.captured,
        copy.cluster,
        autoscaler,
        plugins.plugin(copy.provider).spot,
        copy.plane.processes["kube-scheduler"].paused,
        progress,
        steps,
        _tolerations(copy),
    )
    found = pools(copy, _order(copy))
    if program:
        groups = drill.machines.groups()
        first = [replace(group, nodes=group.nodes[: group.least]) for group in groups.groups]
        real = RealAutoscaler(program, copy.plane, first, groups.profile, copy.plane.directory)
        external = External(real, clock, drill.observed, copy.client, drill.machines, drill.nodes, drill.events)
    try:
        drill.run()
    finally:
        if external:
            external.stop()
    distortions = [text.format(boot=scenario.boot) for text in (DISTORTIONS if real else _DISCRETE)]
    if factor is not None and not real:
        distortions.append(_PACED.format(factor=factor))
    if drill.settling.notes:
        distortions += [f"A program did not do what seemed due: {text}" for text in drill.settling.notes[:10]]
    return record.Record(
        scenario=Path(name).name,
        description=scenario.description,
        stack=stack,
        provider="azure" if copy.provider == "azure" else "gcp",
        location=_location(copy),
        seed=seed,
        clock=record.Clock(scenario.length, clock.factor, time.monotonic() - began, tuple(distortions)),
        autoscaler=f"cluster-autoscaler {real.version}" if real else STAND_IN,
        settings={key: str(value) for key, value in drill.machines.groups().profile.items()},
        pools=found,
        nodes=drill.machines.all,
        pods=drill.kubelets.pods,
        work=list(drill.kubelets.work.values()),
        capacity=drill.faults.capacity,
        events=sorted(drill.events, key=lambda event: event.at),
        price_source="; ".join(sorted(_sources(copy, found))),
        measured=measured,
        caveats=(*_caveats(copy), *([CAVEAT.format(version=real.version)] if real else [])),
    )


def _tolerations(copy: Copy) -> list[Any]:
    """The tolerations that users must write where no policy can add them, below Kubernetes 1.36."""
    if int(copy.version.split(".")[1]) >= 36:
        return []
    contract = copy.outputs.get("contract") or {}
    return list(contract.get("snippets", {}).get("gpu-prefer-spot", {}).get("tolerations", ()))


def _caveats(copy: Copy) -> tuple[str, ...]:
    caveats = [gke_figures.SENTENCE] if copy.provider == "gcp" else []
    if _tolerations(copy):
        caveats.append(_BARE.format(version=copy.version))
    return tuple(caveats)


def _location(copy: CopiedCloud) -> str:
    body = copy.cloud.get(copy.cluster) or {}
    return str(body.get("location", ""))


def pools(copy: CopiedCloud, order: Sequence[Sequence[str]] = ()) -> list[record.Pool]:
    """The pools of a copied stack; those that take a pool's work follow from the order in which they grow."""
    location = _location(copy)
    found = []
    for group in copy.cloud.node_groups(copy.cluster).groups:
        machine = machines.machine_of(group)
        known = prices.price(copy.provider, location, machine)
        # Google sells the GPUs of N1 machines apart.
        if known and copy.provider == "gcp" and machine.startswith("n1-") and group.gpus:
            known = None
        capacity: record.Capacity = "spot" if machines.spot(group) else "on-demand"
        found.append(
            record.Pool(
                name=group.pool,
                machine=machine,
                capacity=capacity,
                gpus=group.gpus.count if group.gpus else 0,
                least=group.least,
                most=group.most,
                zones=tuple(machines.zones_of(copy.cloud, group)),
                fallback=_after(group.pool, order),
                price=None if known is None else known.spot if capacity == "spot" else known.on_demand,
                on_demand_price=known.on_demand if known else None,
            )
        )
    by_name = {pool.name: pool for pool in found}
    # Pools without GPUs are nobody's fallback.
    return [
        record.Pool(**{**vars(pool), "fallback": tuple(n for n in pool.fallback if n in by_name and by_name[n].gpus)})
        if pool.gpus and pool.capacity == "spot"
        else record.Pool(**{**vars(pool), "fallback": ()})
        for pool in found
    ]


def _order(copy: Copy) -> list[list[str]]:
    """Pools in the autoscaler's order, those of one rank together."""
    expander = copy.outputs.get("expander")
    if isinstance(expander, list):
        ranked = sorted(expander, key=lambda tier: -tier["priority"])
        return [list(tier["pools"]) for tier in ranked]
    classes = (copy.api.get("/apis/cloud.google.com/v1/computeclasses") or {"items": []})["items"]
    return [list(rule.get("nodepools") or ()) for body in classes for rule in body["spec"]["priorities"]]


def _after(pool: str, order: Sequence[Sequence[str]]) -> tuple[str, ...]:
    place = next((number for number, names in enumerate(order) if pool in names), len(order))
    return tuple(name for names in order[place + 1 :] for name in names)


def _sources(copy: Copy, pools: Sequence[record.Pool]) -> set[str]:
    location = _location(copy)
    known = (prices.price(copy.provider, location, pool.machine) for pool in pools)
    return {each.source for each in known if each}


def as_json(found: record.Record) -> str:
    """A record as JSON."""
    return json.dumps(_plain(found), indent=1)


def _plain(value: Any) -> Any:
    if hasattr(value, "__dataclass_fields__"):
        return {key: _plain(getattr(value, key)) for key in value.__dataclass_fields__}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value
