"""References: settings that another resource of a program may make, so that they are unknown before
its first update.

Each cloud lists its own in its module `references`, by property path with `[]` for any index.
Beside each stands a well-formed text, which the checks of the settings read while the value is
unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from components import clouds

NAME = "unknown-{0}"
"""A name that every cloud accepts; the number makes it unique."""


@cache
def all_clouds() -> Mapping[str, str]:
    """Return the references of all clouds. Equal paths have equal texts."""
    folders = [target.rpartition(".")[0] for target in clouds.TARGETS.values()]
    return {
        path: text
        for folder in folders
        for path, text in import_module(
            f"{folder}.{folder.rpartition('.')[2]}_references"
        ).REFERENCES.items()
    }
