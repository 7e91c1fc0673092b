"""Differences of two plain property values, as Pulumi property paths.

Deliberately knows nothing of any resource type: each provider decides which differences force a replacement.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

_IDENTIFIER = re.compile(r"^[A-Za-z_$][\w$]*$")


class Kind(StrEnum):
    """The change of one property."""

    ADD = "add"
    DELETE = "delete"
    UPDATE = "update"


def join(path: str, key: str | int) -> str:
    """Append a key to a property path: `a.b`, `a[0]`, `a["k8s.io/b"]`.

    Source: https://www.pulumi.com/docs/iac/concepts/miscellaneous/property-paths/
    """
    if isinstance(key, int):
        return f"{path}[{key}]"
    if not _IDENTIFIER.match(key):
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key


def differences(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Kind]]:
    """Every path at which `new` differs from `old`; an absent key and a null are the same thing."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(old.get(key), new.get(key), join(path, key))
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            yield from differences(
                old[index] if index < len(old) else None, new[index] if index < len(new) else None, join(path, index)
            )
    elif old is None and new is not None:
        yield path, Kind.ADD
    elif old is not None and new is None:
        yield path, Kind.DELETE
    elif type(old) is not type(new) or old != new:
        yield path, Kind.UPDATE


def top_level(path: str) -> str:
    """The first key of a property path: `nodeLabels["a.b"]` is in `nodeLabels`."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]
