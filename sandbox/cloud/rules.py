"""What a rule is: a function of a request that returns the refusal, or None."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from sandbox.cloud.provider import Refused
from sandbox.cloud.state import Body, Resources


@dataclass
class ResourceRequest:
    """One resource in a request: `wanted` is the body that was sent, `body` the resulting one, `current` None on a create."""

    id: str
    wanted: Body
    body: Body
    current: Body | None
    resources: Resources


Request = TypeVar("Request")


def check(rules: Iterable[Callable[[Request], Refused | None]], request: Request) -> None:
    """Raise what the first of the rules refuses."""
    for rule in rules:
        refused = rule(request)
        if refused is not None:
            raise refused
