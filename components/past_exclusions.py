"""Maintenance exclusions that are over: the cloud takes them, and they do nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import pulumi

from config.base.problems import Problem


def problems(ends: Iterable[tuple[str, datetime]], now: datetime) -> Iterator[Problem]:
    """Yield a warning for each exclusion, by its path, that ended before `now`."""
    for path, end in ends:
        if end < now:
            yield Problem(path, f"ended on {end:%Y-%m-%d}", "remove it", warning=True)


def warn(ends: Iterable[tuple[str, datetime]]) -> None:
    """Log these warnings. The rules of stack files read no clock: a file is right or wrong on
    every day.
    """
    for problem in problems(ends, datetime.now(UTC)):
        pulumi.log.warn(f"{problem}")
