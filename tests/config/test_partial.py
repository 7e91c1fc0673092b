"""An unreadable field hides no other problem."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from config.clouds import registry
from config.stack_file import loader

from tests.config.stack_files import ERRORS, ErrorRow

NOTHING: Any = [[]]
"""A value that no field of a pool takes, not even in part."""

FIELDS = [str(field.alias) for field in registry.pool_model().model_fields.values()]


FROM_ABSENCE = re.compile(
    r"pools|cloud\.fallback\.mode|growth\.order.*|queueing\.enabled|pools.*\.fallback.*\.pool|scheduling\.defaults.*|systemPool\.criticalAddonsOnly"
)
"""Paths of problems that say no pool of the file is so: the unreadable pool may be the one."""


@cache
def reported(row: ErrorRow) -> set[str]:
    return {problem.path for problem in loader.read(row.settings())[1]}


def hidden(row: ErrorRow, pool: dict[str, Any]) -> list[str]:
    """Paths of a row's problems that are not reported when its file has this pool as well."""
    more = row.settings()
    more.setdefault("pools", []).append(pool)
    after = {problem.path for problem in loader.read(more)[1]}
    return sorted(path for path in reported(row) - after if not FROM_ABSENCE.fullmatch(path))


@pytest.mark.parametrize("row", ERRORS, ids=str)
def test_a_pool_without_a_readable_field_hides_no_problem_of_the_file(row: ErrorRow) -> None:
    assert hidden(row, dict.fromkeys(FIELDS, NOTHING)) == []


@pytest.mark.parametrize("field", FIELDS)
def test_a_pool_without_one_of_its_fields_hides_no_problem(field: str) -> None:
    # A third of the rows each, in turn: all of them with each field take half a minute.
    for row in ERRORS[FIELDS.index(field) % 3 :: 3]:
        pools = row.settings().get("pools")
        like = pools[0] if isinstance(pools, list) and pools else {"machine": "m", "maxNodes": 1}
        assert hidden(row, {**like, "name": "another", field: NOTHING}) == [], row


def lists(value: Any, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The paths of all lists inside."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [
        *([at] if isinstance(value, list) else []),
        *(path for key, item in inside for path in lists(item, (*at, key))),
    ]


ITEMS_FROM_ABSENCE = re.compile(
    FROM_ABSENCE.pattern + r"|pools.*\.gcp\.computeClass|scheduling\.guard\.platformNamespaces"
)
"""Also: an unreadable step of a chain may be the pool in which the chain leaves the class, and an unreadable namespace one of the
default's."""


@pytest.mark.parametrize("row", ERRORS, ids=str)
def test_an_unreadable_item_hides_no_problem_of_its_list(row: ErrorRow) -> None:
    # Rows of one happy file share most of their lists: half of them each, in turn.
    for number, place in enumerate(lists(row.settings())[ERRORS.index(row) % 2 :: 2]):
        more = row.settings()
        inner: Any = more
        for key in place:
            inner = inner[key]
        inner.insert(0, (7, None, {"zz": 1})[number % 3])
        name = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)[1:]
        # The others stand one further back.
        after = {
            re.sub(rf"^({re.escape(name)})\[(\d+)\]", lambda m: f"{m[1]}[{int(m[2]) - 1}]", problem.path)
            for problem in loader.read(more)[1]
        }
        assert [p for p in reported(row) - after if not ITEMS_FROM_ABSENCE.fullmatch(p)] == [], name
