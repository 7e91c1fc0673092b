"""How much of a report is shown, for a page that has to fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Detail:
    """How many of a kind, or how many characters of one; as much as the model allows where nothing is left out."""

    value: int = 20_000
    """Characters of a value before or after; 0: no such table."""
    properties: int = 10_000
    """Names of properties that one resource changes."""
    rows: int = 100_000
    sentence: int = 20_000
    error: int = 20_000
    loud: int = 100_000
    """Rows of what is replaced or deleted, and errors."""
    name: int = 1_000
    stacks: int = 100_000


def details() -> Iterable[Detail]:
    """From all to little: what a reviewer can do without goes first, what hurts last."""
    detail = Detail()
    yield detail
    for steps in (
        [{"value": most} for most in (2_000, 300, 80, 0)],
        [{"properties": most, "sentence": length} for most, length in ((20, 2_000), (6, 600), (2, 200))],
        [{"rows": most} for most in (100, 40, 15, 5)],
        [{"error": most, "name": length} for most, length in ((4_000, 120), (1_000, 60), (300, 40))],
        [{"loud": most, "rows": 3} for most in (100, 40, 15, 5)],
        [{"stacks": most} for most in (60, 20, 6, 2, 0)],
    ):
        for step in steps:
            detail = replace(detail, **step)
            yield detail
