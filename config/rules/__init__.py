"""Checks across fields: each rule yields (path, what is wrong, what to write instead). No network, no Pulumi.

A fact that is not confirmed may warn but never refuse. A rule is about the whole file, about one pool of it, or about one
pool be it the system pool or another; one that asks for what could not be read ends there, which is why each looks at one
thing only. Rules of one cloud only are in `aks` and `gke`; the others take what differs from `Cloud`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from types import ModuleType
from typing import TypeAlias

from config.clouds import registry
from config.clouds.azure import rules as aks
from config.clouds.gcp import rules as gke
from config.clouds.traits import Cloud
from config.draft import Draft
from config.model.fields import Unreadable, readable
from config.model.stack import Pool, SystemPool
from config.problems import Problem
from config.rules import (
    cluster,
    existing,
    expander,
    gpus,
    growth,
    labels,
    names,
    pools,
    registries,
    release,
    scheduling,
    spot,
    system_pool,
)

Rule: TypeAlias = Callable[[Draft, Cloud], Iterator[Problem]]
PoolRule: TypeAlias = Callable[[str, Pool, Draft, Cloud], Iterator[Problem]]
AnyPoolRule: TypeAlias = Callable[[str, Pool | SystemPool, Draft, Cloud], Iterator[Problem]]


@dataclass(frozen=True)
class _Rules:
    """What some modules have."""

    of_the_file: tuple[Rule, ...]
    of_a_pool: tuple[PoolRule, ...]
    of_any_pool: tuple[AnyPoolRule, ...]


def _gathered(modules: Sequence[ModuleType]) -> _Rules:
    def all_of(name: str) -> Iterator[Callable[..., Iterator[Problem]]]:
        return chain.from_iterable(getattr(module, name, ()) for module in modules)

    return _Rules(tuple(all_of("RULES")), tuple(all_of("POOL_RULES")), tuple(all_of("ANY_POOL_RULES")))


_EVERYWHERE = (
    cluster,
    existing,
    expander,
    gpus,
    growth,
    labels,
    names,
    pools,
    registries,
    release,
    scheduling,
    spot,
    system_pool,
)

_BY_PROVIDER = {
    "azure": _gathered((*_EVERYWHERE, *aks.MODULES)),
    "gcp": _gathered((*_EVERYWHERE, *gke.MODULES)),
    "existing": _gathered(_EVERYWHERE),
}


def check(draft: Draft) -> list[Problem]:
    """Every problem that any rule finds."""
    return list(_found(draft, registry.of(draft.cloud) if draft.cloud else _likely(draft)))


def _likely(draft: Draft) -> Cloud:
    """The cloud of a stack file that does not say, or not in a way that can be read."""
    return registry.likely(pool.machine for _, pool in draft.written_pools() if readable(pool, "machine"))


def _found(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    rules = _BY_PROVIDER[cloud.provider]
    for rule in rules.of_the_file:
        yield from _until_unreadable(rule(draft, cloud))
    for index, pool in draft.pools.items():
        for pool_rule in rules.of_a_pool:
            yield from _until_unreadable(pool_rule(f"pools[{index}]", pool, draft, cloud))
    for path, any_pool in draft.written_pools():
        for any_pool_rule in rules.of_any_pool:
            yield from _until_unreadable(any_pool_rule(path, any_pool, draft, cloud))


def _until_unreadable(problems: Iterator[Problem]) -> Iterator[Problem]:
    try:
        yield from problems
    except Unreadable:
        return
