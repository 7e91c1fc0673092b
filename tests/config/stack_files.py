"""The stack files of tests/configs: happy files, and error rows, each of which is a happy file with an edit."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

CONFIGS = Path(__file__).parents[1] / "configs"
HAPPY = sorted(CONFIGS.glob("*.happy.yaml"))

_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


def load(path: Path) -> Any:
    return yaml.load(path.read_text(), Loader=yaml.CSafeLoader)


def settings(path: Path) -> dict[str, Any]:
    """The settings that the program gets of a stack file."""
    return {key.removeprefix("kubeflow-spot:"): value for key, value in load(path)["config"].items()}


def edited(raw: dict[str, Any], sets: dict[str, Any], removes: Iterable[str] = ()) -> dict[str, Any]:
    """A copy of a stack file in which some properties, named by their paths, are removed and others set; an index that is one
    too high appends."""
    result = copy.deepcopy(raw)
    for path in removes:
        at, last = _parent(result, path)
        del at[last]
    for path, value in sets.items():
        at, last = _parent(result, path)
        if isinstance(at, list) and last == len(at):
            at.append(value)
        else:
            at[last] = copy.deepcopy(value)
    return result


def _parent(raw: Any, path: str) -> tuple[Any, Any]:
    """What holds the property at a path, and the property's key or index there."""
    parts = [int(index) if index else key for index, key in _PART.findall(path)]
    for part in parts[:-1]:
        raw = raw.setdefault(part, {}) if isinstance(raw, dict) else raw[part]
    return raw, parts[-1]


@dataclass(frozen=True, eq=False)
class ErrorRow:
    """A row of tests/configs/errors: the edits of a happy file, and the problems that the loader then reports."""

    base: str
    reason: str
    expect: str | list[str]
    warns: str | list[str] = field(default_factory=list)
    set: dict[str, Any] = field(default_factory=dict)
    remove: str | list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.base}: {self.reason}"

    @property
    def removes(self) -> list[str]:
        return _listed(self.remove)

    @property
    def problems(self) -> list[tuple[str, str]]:
        return parted(_listed(self.expect))

    @property
    def warnings(self) -> list[tuple[str, str]]:
        return parted(_listed(self.warns))

    def settings(self) -> dict[str, Any]:
        return edited(_happy(self.base), self.set, self.removes)


def parted(lines: list[str]) -> list[tuple[str, str]]:
    """Path and start of the message of each `PATH: MESSAGE`, sorted."""
    return sorted((path, message) for path, _, message in (line.partition(": ") for line in lines))


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


@cache
def _happy(base: str) -> dict[str, Any]:
    """The settings of a happy file; `nothing` is an empty one."""
    return {} if base == "nothing" else settings(CONFIGS / f"{base}.happy.yaml")


ERRORS = [
    ErrorRow(base, reason, **row)
    for path in sorted(CONFIGS.glob("errors/*.yaml"))
    for base, rows in load(path).items()
    for reason, row in rows.items()
]
