"""Checks of any pool: machine, bounds, zones, pods a node."""

from __future__ import annotations

from collections.abc import Iterator

from spec.clouds import Cloud
from spec.model import Pool, SystemPool
from spec.problems import Problem
from spec.rules.draft import Draft

_PODS = 30
"""A pool must have room for so many (learn.microsoft.com/azure/aks/concepts-network-ip-address-planning)."""


def _machine(path: str, pool: Pool | SystemPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not cloud.makes_pools:
        return
    machine = cloud.machine(pool.machine)
    if machine is None:
        yield Problem(
            f"{path}.machine",
            f"{pool.machine!r} is not in the catalogue",
            "check the spelling; it is passed on as written",
            warning=True,
        )
    elif machine.status == "retired":
        yield Problem(
            f"{path}.machine",
            f"{machine.size} was retired on {machine.retirement_date}",
            f"use {machine.replacement}" if machine.replacement else "choose another size",
        )
    elif machine.status == "retiring":
        yield Problem(
            f"{path}.machine",
            f"{machine.size} is retired on {machine.retirement_date}; new subscriptions may not deploy it",
            f"use {machine.replacement}" if machine.replacement else "choose another size",
            warning=True,
        )


def _least(path: str, pool: Pool | SystemPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.min_nodes is not None and pool.max_nodes is not None and pool.min_nodes > pool.max_nodes:
        most = pool.max_nodes
        yield Problem(
            f"{path}.minNodes", f"is {pool.min_nodes}, more than maxNodes, which is {most}", f"at most {most}"
        )


def _no_most(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.max_nodes is None and not (pool.gcp and pool.gcp.max_nodes_per_zone):
        yield Problem(f"{path}.maxNodes", "is missing", "add `maxNodes`")


def _most(path: str, pool: Pool | SystemPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.max_nodes is not None and pool.max_nodes > cloud.max_nodes:
        yield _too_many(f"{path}.maxNodes", pool.max_nodes, cloud)


def _most_of_a_twin(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for number, step in enumerate(pool.fallback):
        if step.on_demand and step.on_demand.max_nodes > cloud.max_nodes:
            yield _too_many(f"{path}.fallback[{number}].onDemand.maxNodes", step.on_demand.max_nodes, cloud)


def _too_many(path: str, nodes: int, cloud: Cloud) -> Problem:
    return Problem(path, f"is {nodes}", f"{cloud.title} takes at most {cloud.max_nodes} nodes a pool")


def _zones(path: str, pool: Pool | SystemPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if len(set(pool.zones)) < len(pool.zones):
        yield Problem(f"{path}.zones", f"names a zone twice: {', '.join(pool.zones)}", "name each zone once")


def _pods(path: str, pool: Pool | SystemPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not pool.max_pods:
        return
    most = pool.most_nodes(draft.cloud)
    if pool.max_pods * most < _PODS:
        yield Problem(
            f"{path}.maxPods",
            f"is {pool.max_pods}: with {most} nodes the pool has room for {pool.max_pods * most} pods, "
            f"and AKS asks for {_PODS}",
            "more pods a node, or more nodes",
        )


ANY_POOL_RULES = (_machine, _least, _most, _zones, _pods)
POOL_RULES = (_no_most, _most_of_a_twin)
