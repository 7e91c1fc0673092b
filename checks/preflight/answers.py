"""Answers: what the clouds' clients said, as plain data in the words of the clouds' REST documentation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from checks.check import NotCompared, NotSeen
from checks.preflight.demand import Demand

Document = Mapping[str, Any]
"""An answer as the REST documentation shows it."""


@dataclass(frozen=True)
class Answers:
    """The answers to one stack's questions, by a name of each."""

    demand: Demand
    parts: Mapping[str, Any]
    """A document, a list of them, or None where the cloud has none of that name."""
    unseen: Mapping[str, str] = field(default_factory=dict)
    """The reason why a part was not read, such as `403 AuthorizationFailed`."""
    account: str = ""
    """Who was asked, such as `project example`."""

    def part(self, name: str) -> Any:
        """One answer. Raises `NotSeen`, and `NotCompared` for what was not asked, such as sizes of an unknown region."""
        if name in self.unseen:
            raise NotSeen(f"{name}: {self.unseen[name]}")
        if name not in self.parts:
            raise NotCompared(f"{name} could not be asked, because the stack's region is not known")
        return self.parts[name]
