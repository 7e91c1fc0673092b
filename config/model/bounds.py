"""Bounds of everything in a stack file, checked first: no rule meets a value that it cannot hold.

They are wide; whatever a cloud or Kubernetes takes is far inside. Models and rules are narrower.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any

from config.base.problems import Problem, as_path

DEPTH = 20
"""Objects and lists in one another. The deepest key of the model is at 7."""

VALUES = 20_000
"""Values under one top key. Azure takes 100 pools a cluster, each with some thirty values."""

TEXT = 1 << 20
"""Characters of a text: a Secret's most bytes, because a kubeconfig may be one
(kubernetes.io/docs/concepts/configuration/secret)."""

KEY = 512
"""Characters of a key: a tag's of Azure is the longest.

learn.microsoft.com/azure/azure-resource-manager/management/tag-resources"""

NUMBER = 2**53
"""The largest number: the engine uses 64-bit floats, which are exact for whole numbers up to it."""

# Characters that YAML takes in a file (yaml.org/spec/1.2.2, 5.1) and a terminal shows. An escape,
# such as "\x1b", gets past YAML.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# A key is in one line.
_UNPRINTABLE_IN_KEYS = re.compile(f"[\t\n\r]|{_UNPRINTABLE.pattern}")

_SHOWN = 60
"""Characters of a key beyond its bound that its path shows."""

_DIGITS = 400
"""Digits of a number in JSON; Python takes 4,300, after a time that grows with their square."""


class Unusable:
    """Stands in place of an unusable value. A reader meets it as a value of a wrong type."""

    def __init__(self, what: str, remedy: str) -> None:
        self.what, self.remedy = what, remedy

    def __repr__(self) -> str:
        return self.what


_TOO_DEEP = Unusable(
    f"is nested more than {DEPTH} deep",
    "write the keys of docs/reference/stack-file.md; none is so deep",
)
_TOO_LARGE = Unusable(f"is a number beyond {NUMBER:,}", f"a number from -{NUMBER} to {NUMBER}")
_NO_NUMBER = Unusable("is not a finite number", "write a finite number")


def parse_value(text: str | None) -> Any:
    """Return a top key's value, which the engine delivers as JSON (objects, lists) or as a text."""
    if not text or text[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text, parse_int=_whole, parse_constant=lambda name: _NO_NUMBER)
    except RecursionError:
        return _TOO_DEEP
    except ValueError:
        # A text that looks like an object (`pulumi config set` without --path): reading reports it.
        return text


def drop_out_of_bounds(raw: Mapping[Any, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """Return the settings within bounds, and a problem for each other value or key."""
    problems: list[Problem] = []
    return {
        key: _Values(problems).bounded(raw[key], path, 1) for key, path in _keys(raw, "", problems)
    }, problems


def drop_repeats(problems: Iterable[Problem], beyond: list[Problem]) -> Iterator[Problem]:
    """Yield the problems; those of out-of-bounds values only once, as readers report them too."""
    known = {_plain(problem.path) for problem in beyond}
    yield from beyond
    for problem in problems:
        if _plain(problem.path) not in known:
            yield problem


class _Values:
    """The values under one top key."""

    def __init__(self, problems: list[Problem]) -> None:
        self._problems = problems
        self._count = 0

    def bounded(self, value: Any, path: str, depth: int) -> Any:
        fault = value if isinstance(value, Unusable) else self._fault(value, depth)
        if fault:
            self._problems.append(Problem(path, fault.what, fault.remedy))
            return fault
        if isinstance(value, dict):
            entries = _keys(value, path, self._problems)
            return {key: self.bounded(value[key], inner, depth + 1) for key, inner in entries}
        if isinstance(value, list):
            return [
                self.bounded(item, f"{path}[{index}]", depth + 1)
                for index, item in enumerate(value)
            ]
        return value

    def _fault(self, value: Any, depth: int) -> Unusable | None:
        if isinstance(value, dict | list):
            if depth > DEPTH:
                return _TOO_DEEP
            self._count += len(value)
            if self._count > VALUES:
                return Unusable(f"makes more than {VALUES:,} values under one key", "write fewer")
        elif isinstance(value, str):
            return _fault_of_text(value, TEXT)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            if isinstance(value, float) and not math.isfinite(value):
                return _NO_NUMBER
            return _TOO_LARGE if abs(value) > NUMBER else None
        elif isinstance(value, date):
            text = value.isoformat().replace("+00:00", "Z")
            times = "" if "T" in text else f', or with a time, "{text}T00:00:00Z"'
            return Unusable("is a date without quotes", f'put it in quotes: "{text}"{times}')
        elif value is not None and not isinstance(value, bool):
            return Unusable(
                "is a value that no stack file has",
                "a text, a number, true, false, a list or an object",
            )
        return None


def _keys(
    entries: Mapping[Any, Any], path: str, problems: list[Problem]
) -> Iterator[tuple[str, str]]:
    """Yield the usable keys with their paths."""
    for key in entries:
        fault = (
            _fault_of_text(key, KEY, _UNPRINTABLE_IN_KEYS)
            if isinstance(key, str)
            else Unusable("is no text", "put it in quotes")
        )
        shown = (
            _printable(key[: KEY if fault is None else _SHOWN])
            if isinstance(key, str)
            else repr(key)
        )
        inner = path + as_path(shown) if path else shown or '""'
        if not path and key == "":
            fault = Unusable("is empty", "write one of the keys of docs/reference/stack-file.md")
        if fault:
            problems.append(Problem(inner, f"as a key {fault.what}", fault.remedy))
        else:
            yield key, inner


def _fault_of_text(
    text: str, most: int, unprintable: re.Pattern[str] = _UNPRINTABLE
) -> Unusable | None:
    if len(text) > most:
        return Unusable(f"has {len(text):,} characters", f"at most {most:,} characters")
    if strange := unprintable.search(text):
        what = (
            f"has the unprintable character U+{ord(strange[0]):04X} at place {strange.start() + 1}"
        )
        return Unusable(what, "write it without this character")
    return None


def _printable(text: str) -> str:
    return _UNPRINTABLE_IN_KEYS.sub(lambda strange: f"\\u{ord(strange[0]):04x}", text)


def _whole(digits: str) -> int | Unusable:
    return _TOO_LARGE if len(digits) > _DIGITS else int(digits)


def _plain(path: str) -> str:
    """Return a path in one form: rules write `labels["team"]`, a reader `labels.team`."""
    return re.sub(r'\.?\["(\w+)"\]', r".\1", path)
