"""One verdict of a drill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["holds", "explained", "red", "note"]
"""`explained`: something else than was asked came out, and a setting of the user's decides it; it is no error."""


@dataclass(frozen=True)
class Verdict:
    """What was asked, what was measured, and whether that is within the bound."""

    name: str
    ok: bool | None
    """None where the scenario does not show it, or nothing bounds it."""
    measured: str
    bound: str
    """The bound in words; empty without one."""
    why: str
    """The cause of a red verdict and what to change, or what the verdict means."""
    explained: bool = False
    """Whether a verdict that holds does so only by an explanation."""

    @property
    def state(self) -> State:
        """The verdict in one word."""
        if self.ok is None:
            return "note"
        return "red" if not self.ok else "explained" if self.explained else "holds"
