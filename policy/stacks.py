"""The stacks that people depend on, by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policy.rule import Setting

NAME = "production-stacks"
"""The key of the pack's configuration; no rule has this name."""

_TEXTS = {"type": "array", "items": {"type": "string"}}
_NAMES = ("prod", "production")

SETTINGS: Mapping[str, Setting] = {
    "names": Setting({**_TEXTS, "default": list(_NAMES), "description": "Names of production stacks."}),
    "prefixes": Setting(
        {
            **_TEXTS,
            "default": [name + mark for name in _NAMES for mark in "-_."],
            "description": "Beginnings of the names of production stacks.",
        }
    ),
}


def is_production(stack: str, configured: Mapping[str, Any] | None = None) -> bool:
    """Whether a stack is of production. Its name may be fully qualified: `organization/project/prod`."""
    name = stack.rpartition("/")[2]
    chosen = {**{key: setting.schema["default"] for key, setting in SETTINGS.items()}, **(configured or {})}
    prefixes: Sequence[str] = chosen["prefixes"]
    # An empty text begins every name.
    return name in chosen["names"] or any(prefix and name.startswith(prefix) for prefix in prefixes)
