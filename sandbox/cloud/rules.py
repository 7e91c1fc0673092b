"""Rules: functions of a request that return the refusal, or None."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
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
Refusal = TypeVar("Refusal", bound=Refused)


def as_read(rule: Callable[[Request], Refusal | None]) -> Callable[[Request], Refusal | None]:
    """Return a rule none of whose refusals is confirmed by a source: code, words or the rule itself is the sandbox's reading."""

    @wraps(rule)
    def marked(request: Request) -> Refusal | None:
        refused = rule(request)
        return None if refused is None else refused.as_read()

    return marked


def raise_first(rules: Iterable[Callable[[Request], Refused | None]], request: Request) -> None:
    """Raise the refusal of the first rule that has one."""
    for rule in rules:
        refused = rule(request)
        if refused is not None:
            raise refused
