"""Texts of a scenario: times, ranges, and numbers of nodes and pods."""

from __future__ import annotations

import re
from typing import Any

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
_SHARE = re.compile(r"(\d{1,4})% of (spot|on-demand)")
_SPREAD = re.compile(r"(.+)-(.+)")
_LONGEST = 31 * 86400


def seconds(value: Any) -> float:
    """Read a text such as `90s`, `10m`, `2h` or `7d`, in seconds. Raises ValueError."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"{value!r} is not a time: write it such as 90s, 10m, 2h or 7d")
    found = float(match[1]) * _UNITS[match[2]]
    if found > _LONGEST:
        raise ValueError(f"{value!r} is longer than 31 days")
    return found


def spread(value: Any) -> tuple[float, float]:
    """Read a time, or a range such as `20m-4h`, in seconds. Raises ValueError."""
    both = _SPREAD.fullmatch(value) if isinstance(value, str) else None
    least, most = (seconds(both[1]), seconds(both[2])) if both else (seconds(value),) * 2
    if not 0 < least <= most:
        raise ValueError(
            f"{value!r} is not a range of times: write the shorter first, such as 10m-4h"
        )
    return least, most


def amount(value: Any) -> int | str:
    """Read a number, or a share such as `75% of spot`. Raises ValueError."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 20_000:
        return value
    if isinstance(value, str) and _SHARE.fullmatch(value):
        return value
    raise ValueError(
        f"{value!r} is not a number up to 20000:"
        " write such as 12, or `100% of spot` for the GPUs of all spot pools"
    )


def nodes(value: Any) -> int | str:
    """Read a number of nodes, or `all`. Raises ValueError."""
    if value == "all" or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value  # type: ignore[no-any-return]
    raise ValueError(f"{value!r} is no number of nodes: write such as 2, or all")


def length(value: Any) -> float:
    """Read a time above 0, in seconds. Raises ValueError."""
    found = seconds(value)
    if not found:
        raise ValueError(f"{value!r} is no time: write such as 90m or 2h")
    return found


def first(names: list[str], most: int = 3) -> str:
    """Write the first names of a list, and the number of others."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
