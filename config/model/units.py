"""Units of numbers: the one that a key counts in, and a value that was written in another."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from config.base.near import bare

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_SECONDS |= {"month": 30 * 86400, "year": 365 * 86400}
_MEGABYTES = {"mb": 1, "gb": 1 << 10, "tb": 1 << 20}
# learn.microsoft.com/azure/virtual-machines/managed-disks-overview: the GB of clouds' disks are GiB.
_SIZES = {unit: ("time", size) for unit, size in _SECONDS.items()}
_SIZES |= {unit: ("data", size) for unit, size in _MEGABYTES.items()}
_SHORT = {"s": "second", "sec": "second", "m": "minute", "min": "minute", "h": "hour", "hr": "hour"}
_SHORT |= {"d": "day", "w": "week", "wk": "week", "mo": "month", "y": "year", "yr": "year"}
_SHORT |= {"mib": "mb", "mi": "mb", "gib": "gb", "gi": "gb", "g": "gb", "tib": "tb", "ti": "tb"}
_SHORT |= {"t": "tb"}
# Nine digits: Python reads no number of thousands.
_TEXT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)[\s-]*([a-zA-Z]+)")
_PERIOD = re.compile(r"P(T?)(\d{1,9})([DWHMS])", re.IGNORECASE)
"""One part of an ISO 8601 duration: P14D, PT30M."""
_CLOCK = re.compile(r"(?:(\d{1,9})-)?(\d{1,9}):(\d\d):(\d\d)")
"""Slurm's and clocks' way to write a time: 1-00:00:00."""
_LETTERS = {"hour": "h", "minute": "m", "second": "s", "day": "d"}
"""Units of the stack file's durations."""


def unit_of_key(key: str) -> str | None:
    """Return the unit that a key's name ends with: `day` for `expireAfterDays`; None without."""
    return _name_and_unit(key)[1]


def without_unit(key: str) -> str:
    """Return a key's name without the unit that it ends with."""
    return _name_and_unit(key)[0]


def _name_and_unit(key: str) -> tuple[str, str | None]:
    last = re.search(r"[A-Z]+$|_[a-z]+$|[A-Z][a-z]+$", key)
    unit = _unit(last[0].strip("_")) if last and last.start() else None
    return (key[: last.start()], unit) if last and unit else (key, None)


def same_but_for_its_unit(key: str, known: Iterable[str]) -> str | None:
    """Return the known key that ends with another unit: `gracePeriodSeconds` for
    `gracePeriodMinutes`.
    """
    name = bare(without_unit(key))
    units = unit_of_key(key)
    same = (each for each in known if units and bare(without_unit(each)) == name)
    return next(same, None)


def unit_in_words(unit: str) -> str:
    """Return a unit as a message writes it."""
    return unit.upper() if unit in _MEGABYTES else f"{unit}s"


def amount(text: str) -> tuple[str, str] | None:
    """Return number and unit of a text such as `2 weeks`, `PT20M` or `0-01:00:00`; None for others."""
    plain = text.strip()
    if (found := _TEXT.fullmatch(plain)) and (unit := _unit(found[2])):
        return found[1], unit
    if found := _PERIOD.fullmatch(plain):
        letter = found[3].lower()
        return found[2], "month" if letter == "m" and not found[1] else _SHORT[letter]
    if found := _CLOCK.fullmatch(plain):
        days, hours, minutes, rest = (int(each or 0) for each in found.groups())
        whole = ((days * 24 + hours) * 60 + minutes) * 60 + rest
        unit = next(each for each in _LETTERS if not whole % _SECONDS[each])
        return str(whole // _SECONDS[unit]), unit
    return None


def durations(text: str) -> list[str]:
    """Return the durations of a stack file that a text means: `60m` and `1h` for `60 minutes`."""
    text = re.sub(
        r"^half an? hour$", "30 minutes", re.sub(r"^(an?|one) ", "1 ", text.strip().lower())
    )
    number, unit = amount(text) or ("", "")
    if unit not in _SECONDS or not number.isdigit():
        return []
    whole = int(number) * _SECONDS[unit]
    own = [number + _LETTERS[unit]] if unit in _LETTERS else []
    return own + [
        f"{whole // _SECONDS[each]}{letter}"
        for each, letter in _LETTERS.items()
        if whole and not whole % _SECONDS[each]
    ]


def in_unit_of(key: str, given: object, written: str = "") -> int | None:
    """Return a value in the unit that a key counts in: 14 for `expireAfterDays` and `2 weeks`.

    A number without a unit has the one of `written`, the key that the user wrote. Return None if a
    unit is unknown or of another kind, or the result is no whole number.
    """
    unit, number, its_unit = unit_of_key(key), "", unit_of_key(written)
    if isinstance(given, int) and not isinstance(given, bool):
        number = str(given)
    elif isinstance(given, str):
        number, its_unit = amount(given) or ("", None)
    if unit is None or its_unit is None or not number or _SIZES[unit][0] != _SIZES[its_unit][0]:
        return None
    exact = Fraction(number) * _SIZES[its_unit][1] / _SIZES[unit][1]
    return int(exact) if exact.denominator == 1 and exact > 0 else None


def number_without_unit(key: str, given: object) -> str | None:
    """Return the remedy for a text with a unit in place of a number; None for others."""
    if not isinstance(given, str):
        return None
    if remark := re.fullmatch(r"(\d+)#.*", given):
        return f"write {remark[1]}, and a space before the `#` of a comment"
    if own := unit_of_key(key):
        number, words = in_unit_of(key, given), unit_in_words(own)
        return f"write {number}, in {words}" if number else f"write a whole number of {words}"
    if remark := re.fullmatch(r"(\d+)\s+\w+\s.*", given):
        return f"write {remark[1]}, and `#` before a comment"
    plain = re.fullmatch(r"(\d+) ?[a-zA-Z%]+", given)
    return f"write a whole number without a unit, such as {plain[1]}" if plain else None


def _unit(word: str) -> str | None:
    lower = word.lower()
    singular = lower.removesuffix("s") if len(lower) > 1 else lower
    names = (lower, singular, _SHORT.get(lower, ""), _SHORT.get(singular, ""))
    return next((name for name in names if name in _SIZES), None)
