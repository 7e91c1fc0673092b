"""Walks over the rules of an emulated cloud: each rule refuses its row's request and accepts a similar one.

    Row("too many pods a node", scale_rules.pods_per_node, "6")
    .assumes("Max_pods_per_node must be between 8 and 256.")
    .tries(pool, REGULAR, maxPodsPerNode=(257, 256)),

The rows of a cloud stand in its `walk` package; `sandbox/tests/cloud/test_rule_walk.py` runs them all.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sandbox.tests.engine_side import Caller

Rule = Callable[..., Any]
Step = Callable[[Any], object]
"""A request to a caller of the cloud."""

READING = "the sandbox's reading"
"""The source of a row that no page, issue or recording supports."""

ABSENT: Any = object()
"""One of a pair of values: the property is left out."""

_MARK = "(as the sandbox reads it)"


def marked(text: str) -> bool:
    """Return whether a refusal, alone or in a provider's list of errors, ends in the mark of an unconfirmed rule."""
    return text.rstrip().endswith(_MARK)


@dataclass(frozen=True)
class Row:
    """A request that a rule refuses, and a similar one that it accepts.

    `rule` is the function that keeps the rule; `source` is the section of the facts about the API, the issue or the page
    that has it. `late`: the cloud accepts the request, and fails it later.
    """

    name: str
    rule: Rule
    source: str
    late: bool = False
    code: str = ""
    text: str = ""
    confirmed: bool = True
    before: tuple[Step, ...] = ()
    bad: Step | None = None
    good: tuple[Step, ...] = ()

    def __str__(self) -> str:
        return self.name

    def says(self, *words: str) -> Row:
        """Expect these words, after their code unless it is the cloud's most common one. A source has both."""
        *code, text = words
        return dataclasses.replace(self, code="".join(code), text=text)

    def assumes(self, *words: str) -> Row:
        """Expect these words with the sandbox's mark: no source shows the cloud's own code and words."""
        return dataclasses.replace(self.says(*words), confirmed=False)

    def given(self, *steps: Step) -> Row:
        """Send these requests before both others."""
        return dataclasses.replace(self, before=steps)

    def refuses(self, bad: Step) -> Row:
        return dataclasses.replace(self, bad=bad)

    def accepts(self, *good: Step) -> Row:
        """Expect that these requests are accepted, one after the other."""
        return dataclasses.replace(self, good=good)

    def tries(self, request: Callable[..., Step], *base: Any, **changes: Any) -> Row:
        """Refuse and accept a request; a pair anywhere in its values is one of the refused and one of the accepted."""
        bad, good = (request(*chosen(list(base), which), **chosen(changes, which)) for which in ("refused", "accepted"))
        return dataclasses.replace(self, bad=bad, good=(good,))


def chosen(value: Any, which: str) -> Any:
    """Return a value in which each pair is replaced by its `refused` or its `accepted` one."""
    match value:
        case (refused, accepted) if isinstance(value, tuple):
            return refused if which == "refused" else accepted
        case dict():
            picked = {key: chosen(inner, which) for key, inner in value.items()}
            return {key: inner for key, inner in picked.items() if inner is not ABSENT}
        case list():
            return [chosen(inner, which) for inner in value]
    return value


@dataclass(frozen=True)
class Refusal:
    """A refusal as the walk compares it; `code` only where a cloud has codes."""

    code: str
    text: str
    marked: bool


@dataclass(frozen=True)
class Walk:
    """Tables of rules (modules, and the names of the tables in them), the rows that try each rule, and a world for them.

    `code` is that of rows without one. `caller` opens a state file, `build` makes the world in it, `refusal` reads an error.
    """

    cloud: str
    tables: Sequence[tuple[ModuleType, str]]
    rows: Sequence[Row]
    caller: Callable[[Path], Caller]
    build: Callable[[Any], None]
    refusal: Callable[[Exception], Refusal]
    code: str = ""

    def refused(self, caller: Caller, *steps: Step) -> Refusal | None:
        """Send requests; return None if all are accepted. Without its rule the emulator may stumble over one instead."""
        try:
            for step in steps:
                step(caller)
        except Exception as error:
            return self.refusal(error)
        return None

    def take_out(self, rule: Rule, patch: pytest.MonkeyPatch) -> None:
        """Take a rule out of its tables and out of its module."""
        for module, table in self.tables:
            patch.setattr(module, table, tuple(other for other in getattr(module, table) if other is not rule))
        owner: Any = sys.modules[rule.__module__]
        *path, name = rule.__qualname__.split(".")
        for part in path:
            owner = getattr(owner, part)
        patch.setattr(owner, name, lambda *_: None)

    def rules(self) -> set[Rule]:
        return {rule for module, table in self.tables for rule in getattr(module, table)}
