"""Rules about the items of a list: each is asked by itself, so that one that cannot be read hides no other's problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import TypeAlias, TypeVar

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.fallback import Fallback
from config.model.pool import Pool
from config.model.reading import until_unreadable
from config.model.taint import Taint
from config.rules.draft import Draft

T = TypeVar("T")
Rule: TypeAlias = Callable[[Draft, Cloud], Iterator[Problem]]
PoolRule: TypeAlias = Callable[[str, Pool, Draft, Cloud], Iterator[Problem]]
ItemRule: TypeAlias = Callable[[str, T, Draft, Cloud], Iterator[Problem]]
TaintRule: TypeAlias = Callable[[str, int, Taint, Pool, Draft, Cloud], Iterator[Problem]]
StepRule: TypeAlias = Callable[[str, int, Fallback, Pool, Draft, Cloud], Iterator[Problem]]


def each(items: Callable[[Draft], Iterable[tuple[str, T]]]) -> Callable[[ItemRule[T]], Rule]:
    """Make a rule about the file from a rule about each of these items, which come with their paths."""

    def about(rule: ItemRule[T]) -> Rule:
        @wraps(rule)
        def whole(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
            for path, item in items(draft):
                yield from until_unreadable(rule(path, item, draft, cloud))

        return whole

    return about


def each_step(rule: StepRule) -> PoolRule:
    """Make a rule about a pool from a rule about each step of its fallback, which comes with its path and number."""

    @wraps(rule)
    def whole(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
        for number, step in enumerate(pool.fallback):
            yield from until_unreadable(
                rule(f"{path}.fallback[{number}]", number, step, pool, draft, cloud)
            )

    return whole


def each_taint(rule: TaintRule) -> PoolRule:
    """Make a rule about a pool from a rule about each of its taints, which comes with its path and number."""

    @wraps(rule)
    def whole(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
        for number, taint in enumerate(pool.taints):
            yield from until_unreadable(
                rule(f"{path}.taints[{number}]", number, taint, pool, draft, cloud)
            )

    return whole
