"""Checks across fields: each rule yields (path, what is wrong, what to write instead). No network, no Pulumi.

A fact that is not confirmed may warn but never refuse. A rule is about the whole file, about one pool of it, or about one
pool be it the system pool or another; one that asks for what could not be read ends there, which is why each looks at one
thing only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from spec.clouds import Cloud, choice
from spec.clouds.azure import aks
from spec.fields import Unreadable
from spec.model import Pool, SystemPool
from spec.problems import Problem
from spec.rules import (
    access,
    autoscaler,
    cluster,
    disks,
    encryption,
    existing,
    expander,
    gpus,
    labels,
    monitoring,
    names,
    network,
    pools,
    ranges,
    registries,
    scheduling,
    spot,
    system_pool,
    upgrades,
)
from spec.rules.draft import Draft

Rule: TypeAlias = Callable[[Draft, Cloud], Iterator[Problem]]
PoolRule: TypeAlias = Callable[[str, Pool, Draft, Cloud], Iterator[Problem]]
AnyPoolRule: TypeAlias = Callable[[str, Pool | SystemPool, Draft, Cloud], Iterator[Problem]]

_RULES: tuple[Rule, ...] = (
    *access.RULES,
    *autoscaler.RULES,
    *cluster.RULES,
    *encryption.RULES,
    *existing.RULES,
    *expander.RULES,
    *monitoring.RULES,
    *names.RULES,
    *network.RULES,
    *ranges.RULES,
    *registries.RULES,
    *scheduling.RULES,
    *spot.RULES,
    *system_pool.RULES,
    *upgrades.RULES,
)
_POOL_RULES: tuple[PoolRule, ...] = (
    *disks.POOL_RULES,
    *existing.POOL_RULES,
    *gpus.POOL_RULES,
    *labels.POOL_RULES,
    *pools.POOL_RULES,
    *spot.POOL_RULES,
    *upgrades.POOL_RULES,
)
_ANY_POOL_RULES: tuple[AnyPoolRule, ...] = (*disks.ANY_POOL_RULES, *network.ANY_POOL_RULES, *pools.ANY_POOL_RULES)


def check(draft: Draft) -> list[Problem]:
    """Every problem that any rule finds."""
    # A stack file whose cloud cannot be read is most likely for the cloud of the first stacks.
    return list(_found(draft, choice.of(draft.cloud) if draft.cloud else aks()))


def _found(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for rule in _RULES:
        yield from _until_unreadable(rule(draft, cloud))
    for index, pool in draft.pools.items():
        for pool_rule in _POOL_RULES:
            yield from _until_unreadable(pool_rule(f"pools[{index}]", pool, draft, cloud))
    for path, any_pool in draft.written_pools():
        for any_pool_rule in _ANY_POOL_RULES:
            yield from _until_unreadable(any_pool_rule(path, any_pool, draft, cloud))


def _until_unreadable(problems: Iterator[Problem]) -> Iterator[Problem]:
    try:
        yield from problems
    except Unreadable:
        return
