"""The stacks that people depend on, by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy.rule import Setting

NAME = "production-stacks"
"""The key of the pack's configuration; no rule has this name."""

_TEXTS = {"type": "array", "items": {"type": "string"}}
_NAMES = ("prod", "production")

SETTINGS: Mapping[str, Setting] = {
    "names": Setting(
        {
            **_TEXTS,
            "default": list(_NAMES),
            "description": "Names of production stacks, beside the default's.",
        }
    ),
    "prefixes": Setting(
        {
            **_TEXTS,
            "default": [name + mark for name in _NAMES for mark in "-_."],
            "description": "Beginnings of their names, beside the default's.",
        }
    ),
}


def is_production(stack: str, configured: Mapping[str, Any] | None = None) -> bool:
    """Whether a stack is of production. Its name may be fully qualified: `organization/project/prod`."""
    name = stack.rpartition("/")[2]
    # A list that names the stacks of one team must not take the rules from `prod`.
    chosen: dict[str, list[str]] = {
        key: [*setting.schema["default"], *(configured or {}).get(key, ())]
        for key, setting in SETTINGS.items()
    }
    # An empty text begins every name.
    return name in chosen["names"] or any(
        prefix and name.startswith(prefix) for prefix in chosen["prefixes"]
    )
