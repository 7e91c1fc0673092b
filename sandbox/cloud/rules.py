"""What a rule is: a function of a request that returns the refusal, or None."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from sandbox.cloud.provider import Refused

Request = TypeVar("Request")


def check(rules: Iterable[Callable[[Request], Refused | None]], request: Request) -> None:
    """Raise what the first of the rules refuses."""
    for rule in rules:
        refused = rule(request)
        if refused is not None:
            raise refused
