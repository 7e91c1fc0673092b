"""A drill from a copied cluster to its record."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from drill.play.clock import Clock
from drill.play.drill import Drill
from drill.play.executor import Executor
from drill.play.external import CAVEAT, DISTORTIONS, External
from drill.play.real_autoscaler import RealAutoscaler
from drill.play.source import CopiedCloud, Copy
from drill.world import argo, kinds, record, workloads
from drill.world.basis import Basis
from drill.world.scenario import Scenario
from drill.world.scenario_texts import first
from drill.world.zones import zones_of
from sandbox.autoscaler import gke_figures
from sandbox.autoscaler.autoscaler_options import Options, seconds
from sandbox.autoscaler.scaler import Autoscaler
from sandbox.base.notices import Notify
from sandbox.cloud import prices
from sandbox.cluster import plugins

Tiers = Sequence[Sequence[str]]
"""Pools in the order in which they grow, those of one rank together."""

STAND_IN = "stand-in"
_DISCRETE = (
    "The clock jumps from one event to the next. The real scheduler and controllers answer each event at once. The seconds"
    " that they would take pass for nothing: the scheduler's retries of up to 10 s, the Job controller's 10 s and more before"
    " it replaces a failed pod.",
    "A new machine registers after {boot:.0f} s, a container starts 5 s after its pod is bound, GPUs are reported 10 s after the"
    " device plugin's start, and a pod ends 2 s after SIGTERM: assumed figures.",
)
_PIPELINES = "Argo's own waits pass for nothing: up to 10 s until it looks at a pipeline again, and the back-off of a retry."
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
    basis: Basis | None = None,
    progress: Callable[[float, float], None] = lambda now, length: None,
    program: Path | None = None,
    executor: Executor | None = None,
    notify: Notify = lambda _: None,
) -> record.Record:
    """Run a scenario on a copy of a stack's cluster; `program` is a real cluster-autoscaler in place of the sandbox's own,
    `executor` runs something in place of the containers, and `basis` is that of the first side of a comparison.

    Raises SandboxError.
    """
    began = time.monotonic()
    clock = Clock(1.0 if program else factor)
    real: RealAutoscaler | None = None
    external: External | None = None

    def autoscaler() -> Autoscaler | External:
        return (
            external.restarted() if external else Autoscaler(copy.provider, Options(), Random(seed))
        )

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
        pipelined(copy, scenario, notify),
        basis,
    )
    drill.kubelets.executor = executor or drill.kubelets.executor
    found = pools(copy, orders(copy))
    if program:
        groups = drill.machines.groups()
        began_with = [replace(group, nodes=group.nodes[: group.least]) for group in groups.groups]
        real = RealAutoscaler(program, copy.plane, began_with, groups.profile, copy.plane.directory)
        external = External(
            real, clock, drill.observed, copy.client, drill.machines, drill.nodes, drill.events
        )
    try:
        drill.run()
    finally:
        if external:
            external.stop()
    nodes, pods = told_apart(drill.machines.all, drill.kubelets.pods)
    distortions = [text.format(boot=scenario.boot) for text in (DISTORTIONS if real else _DISCRETE)]
    if drill.further:
        distortions.append(_PIPELINES)
    if factor is not None and not real:
        distortions.append(_PACED.format(factor=factor))
    return record.Record(
        scenario=Path(name).name,
        description=scenario.description,
        stack=stack,
        provider="azure" if copy.provider == "azure" else "gcp",
        location=location(copy),
        seed=seed,
        clock=record.Clock(
            scenario.length, clock.factor, time.monotonic() - began, tuple(distortions)
        ),
        autoscaler=f"cluster-autoscaler {real.version}" if real else STAND_IN,
        settings={key: str(value) for key, value in drill.machines.groups().profile.items()},
        pools=found,
        nodes=nodes,
        pods=pods,
        work=list(drill.kubelets.work.values()),
        capacity=drill.faults.capacity,
        events=sorted(drill.events, key=lambda event: event.at),
        price_source="; ".join(sorted(sources(copy, found))),
        measured=measured,
        shortage=drill.machines.shortage,
        accepted_wait=accepted_wait(copy),
        slowdown=scenario.slowdown,
        caveats=(
            *_caveats(copy),
            *([CAVEAT.format(version=real.version)] if real else []),
            *undone(drill.settling.notes),
        ),
    )


def pipelined(copy: Copy, scenario: Scenario, notify: Notify) -> Mapping[str, str]:
    """The kinds of Argo, whose controller is started in the copy where some work is a Workflow; built first if it is missing."""
    if not any(work.kind == "Workflow" for work in scenario.work):
        return {}
    copy.client.apply(workloads.namespace(argo.NAMESPACE), "sandbox-drill", force=True)
    argo.start(
        copy.plane, copy.client, notify, argo.defaults() if scenario.retries else None, argo.AT_ONCE
    )
    return argo.PATHS


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


def undone(notes: Sequence[str]) -> tuple[str, ...]:
    """What the cluster's programs did not do: the figures may lack it, so it stands before them."""
    return () if not notes else (f"A program did not do what seemed due: {first(list(notes))}.",)


def told_apart(
    nodes: Sequence[record.Node], pods: Sequence[record.Pod]
) -> tuple[list[record.Node], list[record.Pod]]:
    """Nodes and pods with a name of its own for each machine.

    A machine that the cloud makes anew keeps the name of its node (GKE): the second of a name is called `name#2`.
    """
    lives: dict[str, list[record.Node]] = defaultdict(list)
    named = []
    for node in nodes:
        of_name = lives[node.name]
        own = replace(node, name=f"{node.name}#{len(of_name) + 1}") if of_name else node
        of_name.append(own)
        named.append(own)
    return named, [_moved(pod, lives[pod.node]) if pod.node in lives else pod for pod in pods]


def _moved(pod: record.Pod, lives: Sequence[record.Node]) -> record.Pod:
    """A pod on the life of its node that had registered last when it was bound."""
    before = [
        node
        for node in lives
        if node.registered is not None and node.registered <= (pod.bound or 0.0)
    ]
    return replace(pod, node=before[-1].name) if before else pod


def accepted_wait(copy: CopiedCloud) -> float:
    """Seconds that a pod of the stack may wait: its output `acceptedWait`, of which the default is 15 minutes."""
    return seconds(str(copy.outputs.get("acceptedWait") or "15m"))


def location(copy: CopiedCloud) -> str:
    """The region of a copied stack."""
    body = copy.cloud.get(copy.cluster) or {}
    return str(body.get("location", ""))


def pools(copy: CopiedCloud, declared: Sequence[Tiers] = ()) -> list[record.Pool]:
    """The pools of a copied stack; those that take a pool's work follow from the orders in which they grow."""
    region = location(copy)
    found = []
    for group in copy.cloud.node_groups(copy.cluster).groups:
        machine = kinds.machine_of(group)
        known = prices.node_price(copy.provider, region, machine, gpus=bool(group.gpus))
        capacity: record.Capacity = "spot" if kinds.spot(group) else "on-demand"
        found.append(
            record.Pool(
                name=group.pool,
                machine=machine,
                capacity=capacity,
                gpus=group.gpus.shown if group.gpus else 0,
                least=group.least,
                most=group.most,
                zones=tuple(zones_of(copy.cloud, group)),
                fallback=_after(group.pool, declared),
                price=None
                if known is None
                else known.spot
                if capacity == "spot"
                else known.on_demand,
                on_demand_price=known.on_demand if known else None,
            )
        )
    with_gpus = {pool.name for pool in found if pool.gpus}
    # Pools without GPUs are nobody's fallback.
    chains = {
        pool.name: tuple(name for name in pool.fallback if name in with_gpus)
        for pool in found
        if pool.gpus and pool.capacity == "spot"
    }
    return [replace(pool, fallback=chains.get(pool.name, ())) for pool in found]


def orders(copy: CopiedCloud) -> list[Tiers]:
    """The orders in which the stack's pools grow, as the stack declares them: the drill asks whether the cluster keeps to them.

    On AKS there is one for all pools, on GKE one for each ComputeClass.
    """
    expander = copy.outputs.get("expander")
    if expander and isinstance(expander, list):
        ranked = sorted(expander, key=lambda tier: -tier["priority"])
        return [[list(tier["pools"]) for tier in ranked]]
    return [
        [list(rule.get("nodepools") or ()) for rule in body["spec"]["priorities"]]
        for body in copy.classes
    ]


def _after(pool: str, declared: Sequence[Tiers]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for order in declared:
        place = next((number for number, tier in enumerate(order) if pool in tier), len(order))
        names |= dict.fromkeys(name for tier in order[place + 1 :] for name in tier)
    return tuple(names)


def sources(copy: CopiedCloud, pools: Sequence[record.Pool]) -> set[str]:
    """The sources of the prices of a copied stack's pools."""
    region = location(copy)
    known = (prices.price(copy.provider, region, pool.machine) for pool in pools)
    return {each.source for each in known if each}
