"""The detail of a page: the amounts shown of a report, so that the page fits."""

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Detail:
    """Maximum counts and characters; the defaults are the model's own limits, which leave nothing
    out."""

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
    """Yield details from most to least: replaced and deleted resources are left out last."""
    detail = Detail()
    yield detail
    for steps in (
        [{"value": most} for most in (2_000, 300, 80, 0)],
        [
            {"properties": most, "sentence": length}
            for most, length in ((20, 2_000), (6, 600), (2, 200))
        ],
        [{"rows": most} for most in (100, 40, 15, 5)],
        [
            {"error": most, "name": length}
            for most, length in ((4_000, 120), (1_000, 60), (300, 40))
        ],
        [{"loud": most, "rows": 3} for most in (100, 40, 15, 5)],
        [{"stacks": most} for most in (60, 20, 6, 2, 0)],
    ):
        for step in steps:
            detail = replace(detail, **step)
            yield detail
