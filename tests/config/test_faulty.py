"""A faulty file is checked as far as it can be read: no value is a crash, hides another problem, or shows a secret."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from config.clouds import registry
from config.stack_file import loader
from tests.config.stack_files import ERRORS, HAPPY, ErrorRow, edited, replaced, settings
from tests.fuzz.corpus import Place, places

JUNK: tuple[Any, ...] = (None, 0, 1.5, True, "x", [], [1], {}, {"x": 1}, "\n", -1, "10.0.0.0/8", ["x", {}])


def test_any_value_in_any_place_is_a_problem_and_no_crash() -> None:
    seen: set[Place] = set()
    for path in HAPPY:
        raw = settings(path)
        for place in [place for place, _ in places(raw) if place not in seen]:
            junk = JUNK[len(seen) % len(JUNK)]
            seen.add(place)
            for problem in loader.read_stack(replaced(raw, place, junk))[1]:
                assert problem.path, (place, junk, problem)
                assert problem.remedy, (place, junk, problem)
    assert len(seen) > 200


PASSWORD, NUMBER = "hunter2-not-to-be-seen", 4242424242
LOGIN = {"name": "acr-auth", "server": "a.azurecr.io", "username": "u", "password": "p"}
CONFIG = {"provider": "existing", "name": "there", "kubeconfig": {"contents": "kind: Config"}}


@pytest.mark.parametrize(
    "shape", [PASSWORD, NUMBER, [PASSWORD], {"a": PASSWORD}, {PASSWORD: 1}, [{"password": PASSWORD}]]
)
@pytest.mark.parametrize(
    "place",
    [
        *("imagePullSecrets", "imagePullSecrets[0]", "imagePullSecrets[0].password"),
        *("cloud", "cloud.kubeconfig", "cloud.kubeconfig.contents"),
    ],
)
def test_no_secret_is_shown_wherever_and_however_it_is_written(place: str, shape: Any) -> None:
    raw = {"release": "r2026-11", "cloud": CONFIG, "imagePullSecrets": [LOGIN]}
    spec, problems = loader.read_stack(edited(raw, {place: shape}))
    assert spec or problems
    # A key is not a value: a password written as a key is shown.
    shown = repr(spec) + "".join(str(problem) for problem in problems if "is not a key" not in problem.what)
    assert PASSWORD not in shown
    assert str(NUMBER) not in shown


NOTHING: Any = [[]]
"""A value that no field of a pool takes, not even in part."""

FIELDS = [str(field.alias) for field in registry.pool_model().model_fields.values()]


FROM_ABSENCE = re.compile(
    r"pools|cloud\.fallback\.mode|growth\.order.*|queueing\.enabled|pools.*\.fallback.*\.pool|scheduling\.defaults.*|systemPool\.criticalAddonsOnly"
)
"""Paths of problems that say no pool of the file is so: the unreadable pool may be the one."""


@cache
def reported(row: ErrorRow) -> set[str]:
    return {problem.path for problem in loader.read_stack(row.settings())[1]}


def hidden(row: ErrorRow, pool: dict[str, Any]) -> list[str]:
    """Return the paths of a row's problems that are not reported when its file has this pool as well."""
    more = row.settings()
    more.setdefault("pools", []).append(pool)
    after = {problem.path for problem in loader.read_stack(more)[1]}
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


ITEMS_FROM_ABSENCE = re.compile(
    FROM_ABSENCE.pattern + r"|pools.*\.gcp\.computeClass|scheduling\.guard\.platformNamespaces"
)
"""Also: an unreadable step of a chain may be the pool in which the chain leaves the class, and an unreadable namespace one of the
default's."""


@pytest.mark.parametrize("row", ERRORS, ids=str)
def test_an_unreadable_item_hides_no_problem_of_its_list(row: ErrorRow) -> None:
    # Rows of one happy file share most of their lists: half of them each, in turn.
    lists = [place for place, value in places(row.settings()) if isinstance(value, list)]
    for number, place in enumerate(lists[ERRORS.index(row) % 2 :: 2]):
        more = row.settings()
        inner: Any = more
        for key in place:
            inner = inner[key]
        inner.insert(0, (7, None, {"zz": 1})[number % 3])
        name = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)[1:]
        # The others stand one further back.
        after = {
            re.sub(rf"^({re.escape(name)})\[(\d+)\]", lambda m: f"{m[1]}[{int(m[2]) - 1}]", problem.path)
            for problem in loader.read_stack(more)[1]
        }
        assert [p for p in reported(row) - after if not ITEMS_FROM_ABSENCE.fullmatch(p)] == [], name
