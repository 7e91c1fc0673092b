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


def named(items: list[Any], name: Any) -> int:
    """Return the index of the item with this name. Raises StopIteration if no item has it."""
    if isinstance(name, int):
        return name
    return next(index for index, item in enumerate(items) if name in (_names(item), item))


def _names(item: Any) -> Any:
    for key in NAMES if isinstance(item, dict) else ():
        if isinstance(item.get(key), str):
            return item[key]
        if isinstance(item.get(key), dict) and "value" in item[key]:
            return item[key]["value"]
    return None


def _patched_list(base: list[Any], patch: dict[Any, Any]) -> list[Any]:
    result = list(base)
    for name, value in patch.items():
        index = named(result, name)
        if value is None:
            del result[index]
        elif index == len(result):
            result.append(patched(None, value))
        else:
            result[index] = patched(result[index], value)
    return result
