"""Excerpts of two long values: the parts in which they differ."""

import difflib
import json
from collections.abc import Sequence
from functools import lru_cache

_SHORT = 200
"""Characters of a value that is shown whole."""

_AROUND = 40
"""Characters shown on either side of what differs."""

_MOST_LINES = 200
"""Lines of a value that are compared one by one. The time of `difflib` grows with their square, 5
ms for these and 0.5 s for the 2,000 of a long value, and the values are untrusted."""


@lru_cache(maxsize=1_000)  # a page is drawn in less and less detail until it fits
def differing(before: str | None, after: str | None) -> tuple[str | None, str | None]:
    """Return the excerpts of two JSON values: a short value as a whole, of long ones the lines, or
    the characters, that differ."""
    if before is None or after is None or max(len(before), len(after)) <= _SHORT:
        return before, after
    first, second = _text(before), _text(after)
    if "\n" in first and "\n" in second:
        removed, added = _lines(first.split("\n"), second.split("\n"))
        # Lines that only moved are equal on both sides.
        if removed != added:
            return removed, added
    begin = max(0, _alike(first, second) - _AROUND)
    end = max(0, _alike(first[begin:][::-1], second[begin:][::-1]) - _AROUND)
    return _within(first, begin, end), _within(second, begin, end)


def _alike(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the common beginning."""
    unlike = (number for number, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    return next(unlike, min(len(first), len(second)))


def _text(value: str) -> str:
    """Return a JSON string's text; any other value unchanged."""
    try:
        parsed = json.loads(value)
    except ValueError:
        return value
    return parsed if isinstance(parsed, str) else value


def _lines(first: list[str], second: list[str]) -> tuple[str, str]:
    """Return removed and added lines; if too many differ, all between the first and last
    difference."""
    same = _alike(first, second)
    first, second = first[same:], second[same:]
    end = _alike(first[::-1], second[::-1])
    first, second = first[: len(first) - end], second[: len(second) - end]
    if max(len(first), len(second)) > _MOST_LINES:
        return "\n".join(first) if first else "…", "\n".join(second) if second else "…"
    removed, added = list[str](), list[str]()
    # Not by `ndiff`, whose time grows with the cube of the lines.
    for kind, start, end, other_start, other_end in difflib.SequenceMatcher(
        None, first, second
    ).get_opcodes():
        if kind != "equal":
            removed += first[start:end]
            added += second[other_start:other_end]
    return "\n".join(removed) if removed else "…", "\n".join(added) if added else "…"


def _within(text: str, begin: int, end: int) -> str:
    """Return a text without so many characters at either end."""
    return f"{'…' if begin else ''}{text[begin : len(text) - end]}{'…' if end else ''}"
