"""JSON merge patches (RFC 7386), which also reach into lists: the edits of the tables of cases."""

from __future__ import annotations

import copy
from typing import Any

NAMES = ("name", "metric", "namespace", "channel", "value", "id", "plan")
"""Keys whose value names an item of a list."""


def patched(base: Any, patch: Any) -> Any:
    """Return a copy of `base` with `patch` in it: null removes, a mapping goes into objects and lists, all else replaces.

    A key over a list is the index of an item, which may be the next one, or a name; null empties the list at that place.
    """
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    if isinstance(base, list):
        return _patched_list(base, patch)
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = patched(result.get(key), value)
    return result


def _index(items: list[Any], name: Any) -> int:
    """Return the index of the item with this name, of which the last part of a path is enough. Raises StopIteration."""
    if isinstance(name, int):
        return name
    return next(index for index, item in enumerate(items) if f"/{_name(item)}".endswith(f"/{name}"))


def _name(item: Any) -> Any:
    for key in NAMES if isinstance(item, dict) else ():
        if key in item:
            return _name(item[key])
    return item


def _patched_list(base: list[Any], patch: dict[Any, Any]) -> list[Any]:
    result = list(base)
    for name, value in patch.items():
        index = _index(result, name)
        if value is None:
            del result[index]
        elif index == len(result):
            result.append(patched(None, value))
        else:
            result[index] = patched(result[index], value)
    return result
