"""Rules across fields: each yields problems (path, problem, remedy). No network, no Pulumi.

An unconfirmed fact may warn but never refuse. A module lists its rules by subject:

- `RULES`: the whole file; `CLOUD_RULES`: the settings of the cloud; `NEW_CLUSTER_RULES`: the same
  for a new cluster
- `POOL_RULES`: one pool; `ANY_POOL_RULES`: one pool or the system pool

A rule ends at an unreadable field; to hide nothing, it is about one thing (`config.model.reading`,
`config.rules.draft`). A cloud's own rules are in its folder (`Registration.rules`); rules here take
differences from `Cloud`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import chain
from pkgutil import iter_modules
from typing import Any, TypeAlias

from config.base.problems import Problem
from config.clouds import registry
from config.clouds.traits import Cloud
from config.model.pool import AnyPool
from config.model.reading import of_each, until_unreadable
from config.rules.draft import Draft, PoolRule, Rule

CloudRule: TypeAlias = Callable[[Any, Draft, Cloud], Iterator[Problem]]
AnyPoolRule: TypeAlias = Callable[[str, AnyPool, Draft, Cloud], Iterator[Problem]]


@dataclass(frozen=True)
class _Rules:
    """The rules of some modules."""

    of_the_file: tuple[Rule, ...]
    of_the_cloud: tuple[CloudRule, ...]
    of_a_new_cluster: tuple[CloudRule, ...]
    of_a_pool: tuple[PoolRule, ...]
    of_any_pool: tuple[AnyPoolRule, ...]


@cache
def _rules(*packages: str) -> _Rules:
    """Return the rules of all modules of these packages; a new file is enough to add some."""
    modules = [
        import_module(f"{package}.{module.name}")
        for package in packages
        for module in iter_modules(import_module(package).__path__)
    ]

    def all_of(name: str) -> Iterator[Callable[..., Iterator[Problem]]]:
        return chain.from_iterable(getattr(module, name, ()) for module in modules)

    names = ("RULES", "CLOUD_RULES", "NEW_CLUSTER_RULES", "POOL_RULES", "ANY_POOL_RULES")
    return _Rules(*(tuple(all_of(name)) for name in names))


def run_rules(draft: Draft) -> list[Problem]:
    """Return every problem that any rule finds."""
    if draft.cloud:
        return list(_problems(draft, registry.cloud_of(draft.cloud)))
    # The likely cloud of a stack file whose cloud cannot be read.
    machines = of_each(draft.written_pools(), lambda pair: pair[1].machine)
    return list(_problems(draft, registry.likely_cloud(machines)))


def _problems(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    registration = registry.registration(cloud.provider)
    assert registration is not None
    rules = _rules(__name__, registration.rules)
    for rule in rules.of_the_file:
        yield from until_unreadable(rule(draft, cloud))
    if draft.cloud:
        for cloud_rule in (
            *rules.of_the_cloud,
            *(rules.of_a_new_cluster if draft.makes_cluster else ()),
        ):
            yield from until_unreadable(cloud_rule(draft.cloud, draft, cloud))
    for index, pool in draft.pools.items():
        for pool_rule in rules.of_a_pool:
            yield from until_unreadable(pool_rule(f"pools[{index}]", pool, draft, cloud))
    for path, any_pool in draft.written_pools():
        for any_pool_rule in rules.of_any_pool:
            yield from until_unreadable(any_pool_rule(path, any_pool, draft, cloud))
