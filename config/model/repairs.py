"""What a value means that is nearly right: a price with its currency, a time in words."""

from __future__ import annotations

import re
from typing import Any

from config.base.hiding import secret_in

_PLACEHOLDER = re.compile(r"\{\{|\$[({]|^<.*>$")
"""Beginnings of what templates and shells replace."""
_TYPOGRAPHIC = "\u201c\u201d\u201e\u2018\u2019"
"""Quotes of word processors."""
_OFFSETS = {"UTC": "+00:00", "GMT": "+00:00", "Z": "+00:00", "CET": "+01:00", "CEST": "+02:00"}
_OFFSETS |= {"EST": "-05:00", "EDT": "-04:00", "PST": "-08:00", "PDT": "-07:00"}
"""Time zones by their abbreviations."""
DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"))
"""Dashes that a word processor writes for a hyphen or a minus, to one."""
_UNITS = {"min": "m", "mins": "m", "minute": "m", "minutes": "m", "sec": "s", "secs": "s"}
_UNITS |= {"second": "s", "seconds": "s", "hour": "h", "hours": "h", "hrs": "h", "hr": "h"}
AZURE_REGION = r"^[a-z0-9]+$"
"""A region's short name."""
_SECONDS = {"h": 3600, "m": 60, "s": 1}
_CURRENCY = re.compile(r"(?:[$€£]|USD|EUR)?\s*(\d+(?:[.,]\d+)?)\s*(?:[$€£]|USD|EUR)?(?:/h|/hour)?")


def repaired(given: Any, pattern: str) -> str | None:
    """Return the text as it was meant, if it then has the form: a version without its v, a time
    with a short unit, straight quotes, no white space.
    """
    if not isinstance(given, str) or secret_in(given):
        return None
    plain = given.strip().strip(_TYPOGRAPHIC).strip()
    number = plain[1:] if re.match(r"[vV]\d", plain) else plain
    tries = [plain, number, re.sub(r"^(serviceAccount|user|group):", "", plain)]
    tries += [re.sub(r"-gke\.\d+$|/cryptoKeyVersions/\d+$|-docker\.pkg\.dev$", "", number)]
    tries += [_OFFSETS.get(plain.upper(), plain)]
    if pattern == AZURE_REGION:
        tries.append(plain.lower().replace(" ", ""))  # as the portal shows it
    if re.fullmatch(r"/?[\w.-]+(/[\w.-]+)+", plain):
        tries.append(plain.rpartition("/")[2])  # a name at the end of a path
    if time := re.fullmatch(r"(\d+)\s*([a-z]+)", plain.lower()):
        unit = _UNITS.get(time[2], time[2])
        tries.append(time[1] + unit)
        seconds = int(time[1][:6]) * _SECONDS.get(unit, 0)
        tries += [
            f"{seconds // of}{short}"
            for short, of in _SECONDS.items()
            if seconds and not seconds % of
        ]
    return next((each for each in tries if each != given and re.search(pattern, each)), None)


def is_placeholder(given: Any) -> bool:
    """Return whether a template or a shell should have replaced a text."""
    return _PLACEHOLDER.search(str(given)) is not None


def price(given: Any) -> str | None:
    """Return a price as a number; None if the text is none."""
    text = str(given).strip().translate(DASHES)
    found = _CURRENCY.fullmatch(text)
    return text if text == "-1" else found[1].replace(",", ".") if found else None


def without_letters(given: Any) -> str | None:
    """Return a number for a text with letters that look like digits; None for others."""
    number = given.translate(_LETTERS) if isinstance(given, str) else ""
    return number if number != given and number.isdigit() else None


_LETTERS = str.maketrans("OoIl", "0011")
"""Letters that are taken for digits."""
