"""The properties that a stack file names in its cloud's own words, before and after.

They go past what the program checks of a stack, so a reviewer sees all of them. Both stack files may
be untrusted: they are read as data.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sandbox.base.errors import SandboxError
from sandbox.base.yaml_file import read_yaml
from sandbox.engine.changes import MOST, Property

_KEY = "properties"


def compared(before: Path, after: Path) -> tuple[Property, ...]:
    """Return every such property of two stack files, either of which may be missing."""
    old, new = (dict(_written(file)) for file in (before, after))
    return tuple(
        Property(path=path, before=old.get(path), after=new.get(path))
        for path in sorted(old.keys() | new.keys())[:MOST]
    )


def _written(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the path of each property, with a pool by its name, and its value as JSON."""
    settings: Any = {}
    # A broken stack file is an error of the preview.
    with suppress(SandboxError):
        settings = read_yaml(file).get("config") or {}
    for key, value in settings.items() if isinstance(settings, dict) else ():
        name = str(key).rpartition(":")[2]
        if name == "cloud":
            yield from _of(value, name)
        elif name == "systemPool":
            yield from _of_pool(value, name)
        elif name == "pools" and isinstance(value, list):
            for pool in value:
                yield from _of_pool(pool, f"pools[{_named(pool)}]")


def _named(pool: Any) -> Any:
    return pool.get("name") if isinstance(pool, Mapping) else None


def _of_pool(pool: Any, path: str) -> Iterator[tuple[str, str]]:
    for cloud in pool if isinstance(pool, Mapping) else ():
        yield from _of(pool[cloud], f"{path}.{cloud}")


def _of(settings: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(settings, Mapping) and _KEY in settings:
        yield from _leaves(settings[_KEY], f"{path}.{_KEY}")


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}")
    else:
        yield path, json.dumps(value, default=str)
