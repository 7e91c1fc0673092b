"""Excerpts of two long values: the parts in which they differ."""

import difflib
import json

_SHORT = 200
"""Characters of a value that is shown whole."""

_AROUND = 40
"""Characters shown on either side of what differs."""


def differing(before: str | None, after: str | None) -> tuple[str | None, str | None]:
    """The excerpts of two JSON values: a short value as a whole, of long ones the lines, or the characters, that differ."""
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


def _alike(first: str, second: str) -> int:
    """The length of the common beginning."""
    unlike = (number for number, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    return next(unlike, min(len(first), len(second)))


def _text(value: str) -> str:
    """A JSON string's text; any other value unchanged."""
    try:
        parsed = json.loads(value)
    except ValueError:
        return value
    return parsed if isinstance(parsed, str) else value


def _lines(first: list[str], second: list[str]) -> tuple[str, str]:
    """Removed and added lines. Not by `ndiff`, whose time grows with the cube of the lines: the values are untrusted."""
    removed, added = list[str](), list[str]()
    for kind, start, end, other_start, other_end in difflib.SequenceMatcher(None, first, second).get_opcodes():
        if kind != "equal":
            removed += first[start:end]
            added += second[other_start:other_end]
    return "\n".join(removed) if removed else "…", "\n".join(added) if added else "…"


def _within(text: str, begin: int, end: int) -> str:
    """A text without so many characters at either end."""
    return f"{'…' if begin else ''}{text[begin : len(text) - end]}{'…' if end else ''}"
