"""Walks over the rules of an emulated cloud: how a rule is left away, to see what is refused without it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import pytest

Rule = Callable[..., Any]
Tables = Iterable[tuple[ModuleType, str]]
"""Where rules are looked up: modules, and the names of their tables."""


def take_out(rule: Rule, tables: Tables, patch: pytest.MonkeyPatch) -> None:
    """Leave a rule away, wherever it is called from."""
    for module, table in tables:
        patch.setattr(module, table, tuple(one for one in getattr(module, table) if one is not rule))
    owner: Any = sys.modules[rule.__module__]
    *path, name = rule.__qualname__.split(".")
    for part in path:
        owner = getattr(owner, part)
    patch.setattr(owner, name, lambda *_: None)


def without_rows(tables: Tables, rows: Iterable[Any]) -> set[str]:
    """The rules in the tables that no row is about."""
    rules = {rule for module, table in tables for rule in getattr(module, table)}
    return {f"{rule.__module__}.{rule.__name__}" for rule in rules - {row.rule for row in rows}}
