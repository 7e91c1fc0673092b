"""The stack files of tests/configs: happy files, and error rows, each of which is a happy file with an edit."""

import copy
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.fuzz.corpus import Place, places

CONFIGS = Path(__file__).parents[1] / "configs"
HAPPY = sorted(CONFIGS.glob("*.happy.yaml"))

Wanted = tuple[str, str, str]

_PART = re.compile(r'\[(\d+)\]|\["([^"]+)"\]|([^.\[\]]+)')
_PROBLEM = re.compile(r"(\S+): (.+?)(?: -> (.+))?")


def load(path: Path) -> Any:
    return yaml.load(path.read_text(), Loader=yaml.CSafeLoader)


def settings(path: Path) -> dict[str, Any]:
    """Return the settings that the program gets of a stack file."""
    return {key.removeprefix("kubeflow-spot:"): value for key, value in load(path)["config"].items()}


def edited(raw: dict[str, Any], sets: dict[str, Any], removes: Iterable[str] = ()) -> dict[str, Any]:
    """Return a copy of a stack file in which some properties, named by their paths, are removed and others set.

    An index that is one too high appends.
    """
    for path in removes:
        raw = without(raw, place_of(path))
    for path, value in sets.items():
        raw = replaced(raw, place_of(path), copy.deepcopy(value))
    return raw if sets or removes else copy.deepcopy(raw)


def replaced(raw: dict[str, Any], place: Place, value: Any) -> dict[str, Any]:
    result = copy.deepcopy(raw)
    holder, last = _holder(result, place), place[-1]
    if isinstance(holder, list) and last == len(holder):
        holder.append(value)
    else:
        holder[last] = value
    return result


def without(raw: dict[str, Any], place: Place) -> dict[str, Any]:
    result = copy.deepcopy(raw)
    del _holder(result, place)[place[-1]]
    return result


def places_of_keys(raw: dict[str, Any]) -> list[Place]:
    """Return the place of every key, also in the objects of a list."""
    return [place for place, _ in places(raw) if isinstance(place[-1], str)]


def place_of(path: str) -> Place:
    return tuple(int(index) if index else quoted or key for index, quoted, key in _PART.findall(path))


def _holder(value: Any, place: Place) -> Any:
    """Return the object or list that has the place's last key or index."""
    for part in place[:-1]:
        value = value.setdefault(part, {}) if isinstance(value, dict) else value[part]
    return value


@dataclass(frozen=True, eq=False)
class ErrorRow:
    """A row of tests/configs/errors: the edits of a happy file, and the problems that the loader then reports.

    Without `warns` the happy file's own warnings stay.
    """

    base: str
    reason: str
    expect: str | list[str]
    warns: str | list[str] | None = None
    set: dict[str, Any] = field(default_factory=dict)
    remove: str | list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.base}: {self.reason}"

    @property
    def removes(self) -> list[str]:
        return _listed(self.remove)

    @property
    def problems(self) -> list[Wanted]:
        return parted(_listed(self.expect))

    @property
    def warnings(self) -> list[Wanted]:
        return happy_warnings(self.base) if self.warns is None else parted(_listed(self.warns))

    def settings(self) -> dict[str, Any]:
        return edited(_happy(self.base), self.set, self.removes)


def parted(lines: list[str]) -> list[Wanted]:
    """Path, start of the message and words of the remedy of each `PATH: MESSAGE -> REMEDY`, sorted; the remedy may be missing."""
    return sorted(_PROBLEM.fullmatch(line).groups("") for line in lines)  # type: ignore[type-var, union-attr]


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def happy_warnings(base: str) -> list[Wanted]:
    """Return the warnings that a happy file names above its settings; `nothing` has none."""
    text = "" if base == "nothing" else (CONFIGS / f"{base}.happy.yaml").read_text()
    return parted(re.findall("^# warns: (.+)$", text, re.MULTILINE))


@cache
def _happy(base: str) -> dict[str, Any]:
    """Return the settings of a happy file; `nothing` is an empty one."""
    return {} if base == "nothing" else settings(CONFIGS / f"{base}.happy.yaml")


ERRORS = [
    ErrorRow(base, reason, **row)
    for path in sorted(CONFIGS.glob("errors/*.yaml"))
    for base, rows in load(path).items()
    for reason, row in rows.items()
]
