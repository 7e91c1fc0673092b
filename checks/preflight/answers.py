"""Answers of a cloud as plain data in the words of its REST documentation, and how they are
asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from checks.check import NotCompared, NotSeen
from checks.findings import Unasked
from checks.preflight.demand import Demand

Document = Mapping[str, Any]
"""An answer as the REST documentation shows it."""


@dataclass(frozen=True)
class Answers:
    """The answers to one stack's questions, by a name of each."""

    demand: Demand
    parts: Mapping[str, Any]
    """A document, a list of them, or None if the cloud has none of that name."""
    unseen: Mapping[str, str] = field(default_factory=dict)
    """The reason why a part was not read, such as `403 AuthorizationFailed`."""
    account: str = ""
    """The account that was asked, such as `project example`."""

    def part(self, name: str) -> Any:
        """Return one answer. Raises `NotSeen`, and `NotCompared` for what was not asked."""
        if name in self.unseen:
            raise NotSeen(f"{name}: {self.unseen[name]}")
        if name not in self.parts:
            raise NotCompared(f"{name} could not be asked, because the stack's region is not known")
        return self.parts[name]


class Reading(ABC):
    """The answers of one cloud while they come in. Each cloud explains its own refusals."""

    def __init__(self, demand: Demand) -> None:
        self.demand = demand
        self.parts: dict[str, Any] = {}
        self.unseen: dict[str, str] = {}

    @abstractmethod
    def refusal(self, error: Exception, name: str, elsewhere: bool) -> str | None:
        """Return why a part is refused; None if it does not exist.

        `elsewhere`: whether the part may belong to another account, whose refusal says nothing of
        this one. Raises `Unasked` if no right helps, and any other error again.
        """

    def ask(
        self,
        name: str,
        call: Callable[[], Any],
        into: dict[str, Any] | None = None,
        elsewhere: bool = False,
    ) -> Any:
        """Keep and return one answer, in `parts` or `into`; keep the reason of a refusal."""
        place = self.parts if into is None else into
        try:
            place[name] = call()
        except Exception as error:
            why = self.refusal(error, name, elsewhere)
            if why is None:
                place[name] = None
            else:
                self.unseen[name] = why
        return place.get(name)

    def ask_advice(self, name: str, call: Callable[[], Any]) -> None:
        """Keep an answer that is advice alone: any failure is a note of its check."""
        try:
            self.ask(name, call)
        except Unasked as silent:
            self.unseen[name] = str(silent)

    def answers(self, account: str, login: str) -> Answers:
        """Return all answers. `login`: who asked, in words."""
        words = f"{account} as {login}" if login else account
        return Answers(self.demand, self.parts, self.unseen, words)
