"""The pinned releases, one TOML file each, named as the file is."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from spec.model import Release

_DIRECTORY = Path(__file__).parent


@cache
def names() -> tuple[str, ...]:
    """The names a stack file may give as its release, oldest first."""
    return tuple(sorted(path.stem for path in _DIRECTORY.glob("r*.toml")))


@cache
def load(name: str) -> Release:
    """The release of that name. Raises KeyError when there is none."""
    if name not in names():
        raise KeyError(name)
    return Release.model_validate({"name": name, **tomllib.loads((_DIRECTORY / f"{name}.toml").read_text())})
