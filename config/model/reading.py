"""Reads objects that may lack fields, so that rules report all they can.

A faulty object raises `Unreadable` for a missing field; only the rule that read it ends
(`config.rules`). A rule about a list asks each item by itself (`config.rules.draft.each`), or takes
what `where` and `of_each` can read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, TypeVar

from config.base.problems import Problem
from config.model.fields import Model, Unreadable

T = TypeVar("T")
V = TypeVar("V")
D = TypeVar("D")


def known(read: Callable[[], V], default: D) -> V | D:
    """Return the value, or the default if a field is unreadable."""
    try:
        return read()
    except Unreadable:
        return default


def part(thing: Model, name: str) -> Any:
    """Return a field by its name; None if it is unreadable or missing."""
    return thing.__dict__.get(name)


def written(thing: Model, name: str) -> bool:
    """Return whether a key says something, readable or not. Empty values say nothing."""
    read = thing.__dict__
    return bool(read[name]) if name in read else name in thing.model_fields_set


def of_each(items: Iterable[T], read: Callable[[T], V]) -> list[V]:
    """Return the values of the items that can be read."""
    values: list[V] = []
    for item in items:
        try:
            values.append(read(item))
        except Unreadable:
            continue
    return values


def where(items: Iterable[T], condition: Callable[[T], object]) -> list[T]:
    """Return the items whose condition can be read and is true."""
    return [item for item, holds in of_each(items, lambda item: (item, condition(item))) if holds]


def until_unreadable(problems: Iterator[Problem]) -> Iterator[Problem]:
    """Yield the problems up to the first unreadable field."""
    try:
        yield from problems
    except Unreadable:
        return


def doubled(
    items: Iterable[tuple[str, T]], key: Callable[[T], Hashable]
) -> Iterator[tuple[str, str, T]]:
    """Yield each item whose key an earlier item has: its path, the first one's path, the item."""
    first: dict[Hashable, str] = {}
    for path, item, name in of_each(items, lambda pair: (*pair, key(pair[1]))):
        # Two of one path are two all the same: a namespace that one secret names twice.
        if name in first:
            yield path, first[name], item
        else:
            first[name] = path
