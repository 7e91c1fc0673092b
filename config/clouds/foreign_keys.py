"""Names that other tools have for the keys of a stack file: a table in each cloud's folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TypeAlias

from config.clouds.machines import rows

ForeignKeys: TypeAlias = Callable[[], Mapping[tuple[str, str], str]]
"""Key of the stack file, or its path from the object, by object (`pool`, a path such as `cloud`, "" for the file) and name."""


@cache
def read(folder: str) -> Mapping[tuple[str, str], str]:
    """The table foreign_keys.csv beside the module `folder`, which passes its `__file__`."""
    return {(row["object"], row["name"]): row["key"] for row in rows(folder, "foreign_keys")}
