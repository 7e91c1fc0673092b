"""Conditions of grants: terms of one cloud's own, with not, and, or and brackets between them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Condition = Callable[[Asked], bool]
Term = Callable[[re.Match[str]], Condition[Asked]]


class Malformed(ValueError):
    """A condition that cannot be read, or has more than the sandbox knows."""


def parse_condition(text: str, token: re.Pattern[str], term: Term[Asked]) -> Condition[Asked]:
    """Return a condition. `token` has the groups `open`, `close`, `not`, `and` and `or`; `term` reads every other token.

    Raises `Malformed`.
    """
    tokens, at = [], 0
    while at < len(text.rstrip()):
        match = token.match(text, at)
        if match is None:
            raise Malformed(f"at character {at + 1}: {text[at : at + 40].strip()!r}")
        tokens.append(match)
        at = match.end()
    reader = _Reader(tokens, term)
    condition = reader.either()
    if reader.rest:
        raise Malformed(f"after the end: {reader.rest[0][0].strip()!r}")
    return condition


@dataclass
class _Reader(Generic[Asked]):
    rest: list[re.Match[str]]
    term: Term[Asked]

    def _take(self, kind: str) -> bool:
        if self.rest and self.rest[0][kind] is not None:
            self.rest = self.rest[1:]
            return True
        return False

    def either(self) -> Condition[Asked]:
        """Read terms with an or between them, which binds less than an and."""
        terms = [self._all()]
        while self._take("or"):
            terms.append(self._all())
        return lambda asked: any(term(asked) for term in terms)

    def _all(self) -> Condition[Asked]:
        terms = [self._one()]
        while self._take("and"):
            terms.append(self._one())
        return lambda asked: all(term(asked) for term in terms)

    def _one(self) -> Condition[Asked]:
        if self._take("not"):
            inner = self._one()
            return lambda asked: not inner(asked)
        if self._take("open"):
            inside = self.either()
            if not self._take("close"):
                raise Malformed("a ) is missing")
            return inside
        if not self.rest:
            raise Malformed("it ends too early")
        token, self.rest = self.rest[0], self.rest[1:]
        if any(token[kind] is not None for kind in ("close", "and", "or")):
            raise Malformed(f"{token[0].strip()!r} is not expected")
        return self.term(token)
