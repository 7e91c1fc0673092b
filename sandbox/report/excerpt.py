"""Of two long values, the part in which they differ."""

from __future__ import annotations

import difflib
import json

_SHORT = 200
"""Characters of a value that is shown whole."""

_AROUND = 40
"""Characters shown on either side of what differs."""


def differing(before: str | None, after: str | None) -> tuple[str | None, str | None]:
    """Two values as JSON -> what to show of each: all of a short one; of long ones the lines, or the characters, that differ."""
    if before is None or after is None or max(len(before), len(after)) <= _SHORT:
        return before, after
    first, second = _text(before), _text(after)
    if "\n" in first and "\n" in second:
        lines = list(difflib.ndiff(first.split("\n"), second.split("\n")))
        return _lines(lines, "- "), _lines(lines, "+ ")
    begin = max(0, _alike(first, second) - _AROUND)
    end = max(0, _alike(first[begin:][::-1], second[begin:][::-1]) - _AROUND)
    return _within(first, begin, end), _within(second, begin, end)


def _alike(first: str, second: str) -> int:
    """How many characters both begin with."""
    unlike = (number for number, (one, other) in enumerate(zip(first, second, strict=False)) if one != other)
    return next(unlike, min(len(first), len(second)))


def _text(value: str) -> str:
    """A JSON string's text; any other value as it is."""
    try:
        found = json.loads(value)
    except ValueError:
        return value
    return found if isinstance(found, str) else value


def _lines(compared: list[str], mark: str) -> str:
    found = [line[2:] for line in compared if line.startswith(mark)]
    return "\n".join(found) if found else "…"


def _within(text: str, begin: int, end: int) -> str:
    """Without so many characters at either end."""
    return f"{'…' if begin else ''}{text[begin : len(text) - end]}{'…' if end else ''}"
