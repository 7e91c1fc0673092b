"""Remedies for a period that ends before it begins."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

_LONGEST = timedelta(days=90)
"""A longer period is not what was meant: nobody closes a cluster to upgrades for a year."""


def put_right(start: str, end: str) -> str:
    """Return what to write in place of `end`, which is before `start`: the shortest period that
    differs by one slip. Both begin with a date.
    """
    first, last = date.fromisoformat(start[:10]), date.fromisoformat(end[:10])
    tries = [(each - first, f'did you mean "{each}{end[10:]}"?') for each in _slips(first, last)]
    tries.append((first - last, "exchange the two"))
    length, remedy = min((each for each in tries if each[0] > timedelta()), default=(_LONGEST, ""))
    return remedy if remedy and length <= _LONGEST else f"write a time after {start}"


def _slips(start: date, end: date) -> Iterator[date]:
    """Yield the end in the year of the start and the next, and with day and month exchanged."""
    for year in (start.year, start.year + 1):
        for month, day in ((end.month, end.day), (end.day, end.month)):
            try:
                yield date(year, month, day)
            except ValueError:
                continue
