"""JSON merge patches (RFC 7386), which also reach into lists: the edits of the tables of cases."""

import copy
import json
import re
from typing import Any

import yaml

NAMES = ("name", "metric", "namespace", "channel", "value", "id", "metadata", "type")
"""Keys whose value names an item of a list."""


def patched(base: Any, patch: Any) -> Any:
    """Return a copy of `base` with `patch` in it: null removes, a mapping changes what it names, all else replaces.

    A key over a list is the index of an item or its name, of which the end is enough; `each` are all items, and a key with
    `+` appends one. A mapping over a text changes the YAML or JSON in it.
    """
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    if isinstance(base, list):
        return _patched_list(base, patch)
    if isinstance(base, str) and isinstance(content := yaml.safe_load(base), dict | list):
        text = patched(content, patch)
        return json.dumps(text) if base.startswith(("[", "{")) else yaml.safe_dump(text)
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = patched(result.get(key), value)
    return result


def _patched_list(base: list[Any], patch: dict[Any, Any]) -> list[Any]:
    result = list(base)
    for name, value in patch.items():
        if str(name).startswith("+") or name == len(result):
            result.append(patched(None, value))
            continue
        for index in range(len(result)) if name == "each" else [_index(result, name)]:
            if value is None:
                del result[index]
            else:
                result[index] = patched(result[index], value)
    return result


def _index(items: list[Any], name: Any) -> int:
    """Return the index of the item with this name. Raises StopIteration."""
    end = re.compile(rf"(.*[/-])?{re.escape(str(name))}")
    return name if isinstance(name, int) else next(i for i, item in enumerate(items) if end.fullmatch(_name(item)))


def _name(item: Any) -> str:
    for key in NAMES if isinstance(item, dict) else ():
        if key in item:
            return _name(item[key])
    return str(item)
