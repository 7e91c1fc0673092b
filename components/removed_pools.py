"""Pools that an edit of the stack file removes, judged by what runs on them (docs/adr/0018).

A removed pool is a live one that the stack made and that its file no longer declares. A new
generation of a declared pool does not count: with `generation` the user asked for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from components import refusal, running
from components.layer.gpu.matching import may_run
from components.running import Running, name_of
from components.target import Stack
from config.base.problems import Problem
from config.placement.node_pools import GPU_TAINT, POOL_LABEL, NodePool

SYSTEM = "systemPool"
"""The origin of the system pool: the key of the stack file."""

KEY = "cluster.removedPools"
"""The list of pools that may be deleted with their running pods."""

_SHOWN = 4
"""Most pods, and nodes, that a message names."""


@dataclass(frozen=True)
class LivePool:
    """A pool in the cluster now: `LivePool("t4od", labels, spot=False, nodes=2)`."""

    name: str
    """The cloud's name for it."""
    labels: Mapping[str, str]
    """Labels of its nodes."""
    spot: bool
    """Whether the cloud may reclaim its machines at any time."""
    nodes: int | None
    """The cloud's own count; None if the cloud does not report it exactly."""
    stack: str | None = None
    """The stack that added it to an existing cluster (`pools.STACK_TAG`)."""

    @property
    def label(self) -> str:
        """Value of POOL_LABEL on its nodes."""
        return self.labels.get(POOL_LABEL) or self.name

    @property
    def may_have_nodes(self) -> bool:
        """Whether it may have nodes, by the cloud's own count."""
        return self.nodes != 0

    def __str__(self) -> str:
        return f"the {'spot' if self.spot else 'on-demand'} pool {self.name}"


def remembered(stack: Stack, live: Collection[str]) -> dict[str, str]:
    """Return the stack's pools by the cloud's names, each with its origin: a pool of the stack
    file.

    `live`: names of the cluster's pools now. A pool that this update removes is kept: an update
    that fails exports its outputs and may leave the pool, where work may land before the next one.
    """
    leaving = {name: origin for name, origin in stack.last_update.pools.items() if name in live}
    system = {stack.system_pool.name: SYSTEM} if stack.system_pool else {}
    return {**leaving, **{pool.name: pool.source.name for pool in stack.node_pools}, **system}


def problems(
    stack: Stack,
    live: Iterable[LivePool],
    key: str,
    kubeconfig: Callable[[], str],
) -> list[Problem]:
    """Return a problem for each removed on-demand pool in use. Log warnings of other pools with
    work.

    The cluster is read only when a pool is removed. `key`: the key of the stack file by which
    errors name it; `kubeconfig` returns its kubeconfig, or raises `pulumi.RunError`.
    """
    pools = removed(stack, live)
    work: Mapping[str, Running] | str = {}
    if pools:
        try:
            work = running.read_running(kubeconfig(), key, {pool.label for pool in pools})
        except pulumi.RunError as unreadable:
            work = " ".join(str(unreadable).split())
    judged = list(unused(stack, pools))
    for pool in pools:
        judged += judge(stack, pool, work)
    refusal.warn(problem for problem in judged if problem.warning)
    return [problem for problem in judged if not problem.warning]


def removed(stack: Stack, live: Iterable[LivePool]) -> list[LivePool]:
    """Return the live pools that the stack made and its file no longer declares."""
    declared = _declared(stack)
    names = {pool.name for pool in declared}
    kinds = {(pool.label, pool.spot) for pool in declared}
    made = stack.last_update.pools
    return [
        pool
        for pool in live
        if pool.name not in names
        and (pool.label, pool.spot) not in kinds
        and (pool.stack == stack.instance or (pool.stack is None and pool.name in made))
    ]


def unused(stack: Stack, pools: Sequence[LivePool]) -> Iterator[Problem]:
    """Yield a warning for each entry of the stack file that names no removed pool."""
    for index, name in enumerate(stack.spec.cluster.removed_pools):
        if name not in {pool.name for pool in pools}:
            what = f"{name!r}: this update removes no such pool"
            yield Problem(f"{KEY}[{index}]", what, "remove the line", warning=True)


def judge(stack: Stack, pool: LivePool, work: Mapping[str, Running] | str) -> Iterator[Problem]:
    """Yield the problem of one removed pool, if it has one.

    `work`: what runs on the pools, by label; a text says why the pods cannot be listed.
    """
    path = _path(stack, pool)
    if isinstance(work, str):
        if not pool.may_have_nodes:
            return
        count = "an unknown number of" if pool.nodes is None else pool.nodes
        what = f"{pool} would go with {count} nodes, whose pods cannot be listed ({work})"
        outcome = "see to the cause first, or drain them"
    else:
        on_pool = work.get(pool.label, Running())
        if not on_pool.pods:
            return
        pods, nodes = _few(map(name_of, on_pool.pods)), _few(on_pool.nodes)
        what = f"{pool} would go with what runs there: pods {pods} on nodes {nodes}"
        outcome = _outcome(stack, on_pool.pods)
    if path == SYSTEM:
        yield Problem(path, what, "the new system pool is made first", warning=True)
    elif pool.name in stack.spec.cluster.removed_pools:
        yield Problem(path, what, f"{KEY} allows it; {outcome}", warning=True)
    elif pool.spot:
        yield Problem(path, what, outcome, warning=True)
    else:
        yield Problem(path, what, _remedy(pool, outcome))


def _remedy(pool: LivePool, outcome: str) -> str:
    drain = f"kubectl drain -l {POOL_LABEL}={pool.label} --ignore-daemonsets --delete-emptydir-data"
    return (
        f"put it back; or drain it, then `pulumi up`: `{drain}` ({outcome}); or, to lose what runs "
        f"there, write `removedPools: [{pool.name}]` under `cluster`"
    )


def _path(stack: Stack, pool: LivePool) -> str:
    """Return the path of a pool: its own entry, or its spot pool's chain."""
    origin = stack.last_update.pools.get(pool.name)
    if origin == SYSTEM:
        return SYSTEM
    names = [declared.name for declared in stack.spec.pools]
    if origin not in names:
        return "pools"
    path = f"pools[{names.index(origin)}]"
    return path if pool.label == origin else f"{path}.fallback"


def _outcome(stack: Stack, pods: Sequence[Mapping[str, Any]]) -> str:
    """Say where the pods can go among the pools that the stack file declares."""
    hosts: set[str] = set()
    stuck = []
    for pod in pods:
        takers = {pool.name for pool in _declared(stack) if _takes(pool, pod["spec"])}
        hosts |= takers
        if not takers:
            stuck.append(name_of(pod))
    if stuck:
        return f"no declared pool takes {_few(stuck)}: write one first, or stop them"
    return f"its pods can go to {_few(sorted(hosts))}"


def _takes(pool: NodePool, pod: Mapping[str, Any]) -> bool:
    """Return whether a pod may run on a pool's nodes, whatever its size."""
    asks = any(GPU_TAINT.key in _limits(container) for container in pod.get("containers") or ())
    return may_run(pod, pool.labels, pool.taints) and (bool(pool.gpus) or not asks)


def _limits(container: Mapping[str, Any]) -> Mapping[str, Any]:
    limits: Mapping[str, Any] = (container.get("resources") or {}).get("limits") or {}
    return limits


def _declared(stack: Stack) -> list[NodePool]:
    return [*stack.node_pools, *([stack.system_pool] if stack.system_pool else [])]


def _few(names: Iterable[str]) -> str:
    """Return the first of some names, and the number of others."""
    first = list(names)
    more = f" and {len(first) - _SHOWN} more" if len(first) > _SHOWN else ""
    return ", ".join(first[:_SHOWN]) + more
