"""Rules are found by the lists of their modules: none is left out, and each is in the list of its subject."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from config import rules
from config.clouds import registry

POOL = ("path", "pool", "draft", "cloud")
LISTS = {
    ("draft", "cloud"): ("RULES",),
    ("settings", "draft", "cloud"): ("CLOUD_RULES", "NEW_CLUSTER_RULES"),
    POOL: ("POOL_RULES", "ANY_POOL_RULES"),
    # Made into rules about a file or a pool by a decorator.
    ("path", "item", "draft", "cloud"): ("RULES",),
    ("path", "number", "step", "pool", "draft", "cloud"): ("POOL_RULES",),
}
"""The list of a rule, by its parameters."""


def modules() -> Iterator[ModuleType]:
    for package in (rules.__name__, *(cloud.rules for cloud in registry.registrations())):
        for module in iter_modules(import_module(package).__path__):
            yield import_module(f"{package}.{module.name}")


def shape(function: object) -> tuple[str, ...]:
    """Return the parameters of a rule; the name of a cloud stands for its settings."""
    clouds = [cloud.provider for cloud in registry.registrations()]
    names = tuple("settings" if name in clouds else name for name in inspect.signature(function).parameters)  # type: ignore[arg-type]
    return ("path", "item", *names[2:]) if len(names) == 4 and names[:2] != POOL[:2] else names


def test_every_function_that_looks_like_a_rule_is_listed_where_it_belongs() -> None:
    count = 0
    for module in modules():
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ != module.__name__ or function.__annotations__.get("return") != "Iterator[Problem]":
                continue
            lists = LISTS.get(shape(function), ())
            if lists:
                count += 1
                assert any(function in getattr(module, each, ()) for each in lists), f"{module.__name__}.{name}"
    assert count > 120


def test_no_list_of_a_module_is_unknown() -> None:
    known = {each for lists in LISTS.values() for each in lists}
    for module in modules():
        assert {name for name in vars(module) if name.endswith("RULES")} <= known, module.__name__
