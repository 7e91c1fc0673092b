"""Error rows about one key, recognised by the data and the loader alone.

A problem is about one key when the key alone causes it, and when it stays in every good file of the same kind in which the key
is put. With the key goes what says in what kind of object it is: `cloud.provider`, `cloud.existingCluster`, a pool's `capacity`.
"""

import copy
from functools import cache
from typing import Any

from config.stack_file import loader
from tests.config.stack_files import ERRORS, HAPPY, ErrorRow, place_of, settings
from tests.fuzz.corpus import Place


def error_rows() -> list[ErrorRow]:
    """Return the error rows with a single problem."""
    return [row for row in ERRORS if len(row.problems) == 1]


def is_about_one_key(row: ErrorRow) -> bool:
    """Return whether the row's one problem is about one key."""
    [(location, message, _)] = row.problems
    raw = row.settings()
    parts = place_of(location)
    alone = _only(raw, parts)
    kind = _kind(raw)
    if kind and location != "cloud.provider" and isinstance(alone.setdefault("cloud", {}), dict):
        alone["cloud"] |= kind
    if not _has(alone, location, message):
        return False
    if _at(raw, parts) is None:
        return True  # a key that is missing
    others = [good for good in _good() if _kind(good).keys() == kind.keys() and _provider(good) == _provider(raw)]
    return all(_has(_grafted(good, raw, parts), location, message) for good in others if _fits(good, parts))


@cache
def _good() -> list[dict[str, Any]]:
    return [settings(path) for path in HAPPY]


def _has(raw: dict[str, Any], path: str, message: str) -> bool:
    """Return whether the loader finds that problem."""
    return any(problem.path == path and problem.what.startswith(message) for problem in loader.read_stack(raw)[1])


def _provider(raw: dict[str, Any]) -> str | None:
    return _kind(raw).get("provider")


def _kind(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that name the cluster: the cloud, and an existing cluster of it."""
    cloud = raw.get("cloud")
    return (
        {key: cloud[key] for key in ("provider", "existingCluster") if key in cloud} if isinstance(cloud, dict) else {}
    )


def _at(value: Any, parts: Place) -> Any:
    """Return the value at a path; None if it is missing."""
    for part in parts:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _fits(good: dict[str, Any], parts: Place) -> bool:
    """Return whether a file has the list that the path goes through, long enough."""
    lists = [number for number, part in enumerate(parts[:-1]) if isinstance(part, int)]
    return all(_at(good, parts[: number + 1]) is not None for number in lists)


def _grafted(good: dict[str, Any], raw: dict[str, Any], parts: Place) -> dict[str, Any]:
    """Return a good file with the key of another in it; for an entry of a list the whole list."""
    end = len(parts) - 1 if isinstance(parts[-1], int) else len(parts)
    result = copy.deepcopy(good)
    here: Any = result
    for number, part in enumerate(parts[: end - 1]):
        source = _at(raw, parts[: number + 1])
        here = here.setdefault(part, {}) if isinstance(here, dict) else here[part]
        if "capacity" in source:
            here["capacity"] = source["capacity"]
    here[parts[end - 1]] = _at(raw, parts[:end])
    return result


def _only(value: Any, parts: Place) -> Any:
    """Return a value cut down to one key: the way to it, and its own value."""
    if not parts:
        return value
    first, rest = parts[0], parts[1:]
    if isinstance(first, int):
        if not isinstance(value, list) or first >= len(value):
            return value
        # Empty objects keep the place of those before it.
        before = [{} if isinstance(item, dict) else item for item in value[:first]]
        return [*before, _only(value[first], rest)]
    if not isinstance(value, dict):
        return value
    kept = {"capacity": value["capacity"]} if "capacity" in value else {}
    return kept | ({first: _only(value[first], rest)} if first in value else {})
