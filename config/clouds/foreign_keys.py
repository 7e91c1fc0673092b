"""Names that other tools have for the keys of a stack file: a table in each cloud's folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple, TypeAlias

from config.clouds.machines import rows


class ForeignKey(NamedTuple):
    """The key of the stack file that another tool's name means."""

    key: str
    """The key, or its path from the object."""
    remedy: str = ""
    """What to write, where the value is not to be taken as it is: the two keys differ in their meaning."""


ForeignKeys: TypeAlias = Callable[[], Mapping[tuple[str, str], ForeignKey]]
"""Keys of other tools, by object (`pool`, a path such as `cloud`, "" for the file) and name."""


@cache
def read(folder: str) -> Mapping[tuple[str, str], ForeignKey]:
    """The table foreign_keys.csv beside the module `folder`, which passes its `__file__`."""
    table = rows(folder, "foreign_keys")
    return {
        (row["object"], row["name"]): ForeignKey(row["key"], row.get("remedy") or "")
        for row in table
    }
