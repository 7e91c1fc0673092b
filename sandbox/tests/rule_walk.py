"""Walks over the rules of an emulated cloud: a rule is taken out, and the request is tried without it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import pytest

Rule = Callable[..., Any]
Tables = Iterable[tuple[ModuleType, str]]
"""Tables of rules: modules, and the names of the tables in them."""

READING = "the sandbox's reading"
"""The source of a row that no page, issue or recording supports."""

_MARK = "(as the sandbox reads it)"


def marked(text: str) -> bool:
    """Whether a refusal, alone or in a provider's list of errors, ends in the mark of an unconfirmed rule."""
    return text.rstrip().endswith(_MARK)


def without_source(rows: Iterable[Any]) -> list[str]:
    """The names of rows that claim to be confirmed and name no source."""
    return [row.name for row in rows if row.source in ("", READING) and row.confirmed]


def take_out(rule: Rule, tables: Tables, patch: pytest.MonkeyPatch) -> None:
    """Take a rule out of its tables and out of its module."""
    for module, table in tables:
        patch.setattr(module, table, tuple(other for other in getattr(module, table) if other is not rule))
    owner: Any = sys.modules[rule.__module__]
    *path, name = rule.__qualname__.split(".")
    for part in path:
        owner = getattr(owner, part)
    patch.setattr(owner, name, lambda *_: None)


def without_rows(tables: Tables, rows: Iterable[Any]) -> set[str]:
    """The rules in the tables that no row tries."""
    rules = {rule for module, table in tables for rule in getattr(module, table)}
    return {f"{rule.__module__}.{rule.__name__}" for rule in rules - {row.rule for row in rows}}
