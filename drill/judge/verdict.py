"""One verdict of a drill, and how durations, times, numbers and texts are written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

State = Literal["holds", "explained", "red", "note"]
"""`explained`: a setting of the user's explains the result; it is no error."""

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)([smh])")


@dataclass(frozen=True)
class Verdict:
    """What is required, what was measured, and whether that is within the bound."""

    name: str
    ok: bool | None
    """None if the scenario does not show it, or nothing bounds it."""
    measured: str
    bound: str
    """The bound in words; empty without one."""
    why: str
    """The cause of a red verdict and what to change, or the meaning of the verdict."""
    explained: bool = False
    """Whether the verdict holds only by an explanation."""

    @property
    def state(self) -> State:
        """The verdict in one word."""
        if self.ok is None:
            return "note"
        return "red" if not self.ok else "explained" if self.explained else "holds"


@cache
def seconds(text: str) -> float:
    """Return the seconds of `10m`, `90s`, `1h30m` or `10`. Raises ValueError for another text."""
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{text} is no duration: write it as 10m, 90s or 1h30m")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def span(length: float) -> str:
    """Write seconds in the unit that suits them: `45 s`, `15.6 min`, `3.2 h`, `2.1 days`."""
    if length < 99.5:
        return f"{length:.0f} s"
    if length < 100 * 60:
        return f"{length / 60:.1f} min"
    if length < 48 * 3600:
        return f"{length / 3600:.1f} h"
    return f"{length / 86400:.1f} days"


def moment(at: float) -> str:
    """Write a time of the clock: `12:05` (minutes), `3:12:05` (hours), `2 d 3:12` (days)."""
    whole = round(at)
    days, hours, minutes, rest = whole // 86400, whole // 3600 % 24, whole // 60 % 60, whole % 60
    if days:
        return f"{days} d {hours}:{minutes:02}"
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: `1 pod`, `3 pods`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def printable(text: str) -> str:
    """Replace control characters: they move cursors in a terminal, and XML has none."""
    return "".join(each if each.isprintable() or each == "\n" else "\ufffd" for each in text)
