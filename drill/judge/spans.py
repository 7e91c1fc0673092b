"""Durations as settings write them, and as people read them."""

from __future__ import annotations

import re

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)([smh])")


def seconds(text: str) -> float:
    """The seconds of `10m`, `90s`, `1h30m` or `10`. Raises ValueError for another text."""
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{text} is no duration: write it as 10m, 90s or 1h30m")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def span(length: float) -> str:
    """A duration in the unit that suits it: `45 s`, `15.6 min`, `3.2 h`, `2.1 days`."""
    if length < 99.5:
        return f"{length:.0f} s"
    if length < 100 * 60:
        return f"{length / 60:.1f} min"
    if length < 48 * 3600:
        return f"{length / 3600:.1f} h"
    return f"{length / 86400:.1f} days"


def moment(at: float) -> str:
    """A time of the drill's clock: `12:05` for minutes and seconds, `3:12:05` with hours, `2 d 3:12` with days."""
    whole = round(at)
    days, hours, minutes, rest = whole // 86400, whole // 3600 % 24, whole // 60 % 60, whole % 60
    if days:
        return f"{days} d {hours}:{minutes:02}"
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def counted(number: int, noun: str) -> str:
    """`1 pod`, `3 pods`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
