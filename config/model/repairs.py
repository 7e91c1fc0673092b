"""What a value means that is nearly right: a price with its currency, a time in words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from pydantic_core import ErrorDetails

from config.base.hiding import secret_in
from config.base.near import bare, nearest
from config.model.units import durations

_PLACEHOLDER = re.compile(r"\{\{|\$[({]|^<.*>$|^[A-Z]+(_[A-Z]+)+$")
"""What templates, shells and readers of a tutorial replace."""
_TYPOGRAPHIC = "\u201c\u201d\u201e\u2018\u2019"
"""Quotes of word processors."""
_OFFSETS = {"UTC": "+00:00", "GMT": "+00:00", "Z": "+00:00", "CET": "+01:00", "CEST": "+02:00"}
_OFFSETS |= {"EST": "-05:00", "EDT": "-04:00", "PST": "-08:00", "PDT": "-07:00"}
"""Time zones by their abbreviations."""
DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"))
"""Dashes that a word processor writes for a hyphen or a minus, to one."""
AZURE_REGION = r"^[a-z0-9]+$"
"""A region's short name."""
MIDNIGHT = "00:00"
PARTS = {1 / pods: pods for pods in range(2, 49)}
"""Shares of a GPU, and the number of pods that have one each."""
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
    tries += [_OFFSETS.get(plain.upper(), plain), plain.translate(DASHES), plain.strip("/")]
    tries += [
        plain.replace("\\", "/"),
        re.sub("^24:00$", MIDNIGHT, plain),
        re.sub(r"(-[a-z]+\d)([a-z])$", r"\1-\2", plain),
    ]
    tries += [*_dates(plain), *_accounts(tries[2])]
    tries.append(re.sub(r"^(\d+\.\d+\.\d+)(/\d+)$", r"\1.0\2", plain))  # three numbers of four
    if pattern == AZURE_REGION:
        tries.append(plain.lower().replace(" ", ""))  # as the portal shows it
    if re.fullmatch(r"(https:/)?/?[\w.-]+(/[\w.-]+)+", plain):
        tries.append(plain.rpartition("/")[2])  # a name at the end of a path
    tries.append(re.sub(r"(?<=\d)\.+(?=[./]|$)", "", plain))  # a dot too many in an address
    tries += durations(plain)
    return next((each for each in tries if each != given and re.search(pattern, each)), None)


def meanings(error: ErrorDetails) -> Iterator[Any]:
    """Yield what a value of a wrong form can mean, if one of them has the form: text in quotes, a
    number without, a word in other letters. A caller tries them.
    """
    given, context = error["input"], error.get("ctx", {})
    match error["type"]:
        case "string_pattern_mismatch":
            if (text := repaired(given, context["pattern"])) is not None:
                yield text
        case "string_type" if isinstance(given, bool):
            yield str(given).lower()
        case "string_type" if isinstance(given, int | float):
            # YAML drops a last 0, and reads a time of day as minutes.
            yield from (str(given), f"{given}0", f"{given // 60:02.0f}:{given % 60:02.0f}")
        case "int_type" | "float_type" if isinstance(given, str):
            text = without_letters(given) or price(given) or given.strip()
            if re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", text):
                yield float(text) if "." in text else int(text)
        case "less_than_equal" if context.get("le") == 1 and 1 < given <= 100:
            yield given / 100
        case "bool_type" if str(given).lower() in YES_OR_NO:
            yield YES_OR_NO[str(given).lower()] == "true"
        case "enum" | "literal_error" if isinstance(given, str):
            words = re.findall("'([^']*)'", context["expected"])
            yield from (word for word in words if bare(word) == bare(given.strip()))


_OFF = ("off", "no", "none", "never", "disabled", "disable", "false", "null")
_ON = ("on", "yes", "true", "enabled", "enable")
_OTHERS_WORDS = {
    **dict.fromkeys(_OFF, ("never", "none", "None", "audit")),
    **dict.fromkeys(_ON, ("auto", "enforce")),
    **dict.fromkeys(("deny", "block", "refuse", "reject", "strict", "enforcing"), ("enforce",)),
    **dict.fromkeys(("dryrun", "log", "report", "permissive"), ("audit",)),
    **dict.fromkeys(("regular", "standard", "dedicated", "normal", "reserved"), ("on-demand",)),
    **dict.fromkeys(("timesharing", "timeslice", "timeshared"), ("time-slicing",)),
    "stable": ("patch",),
    "paid": ("Standard",),
    "lowpriority": ("spot",),
    "advanceddatapath": ("v2",),
    "legacydatapath": ("legacy",),
    "api": ("kube-apiserver",),
    "authenticator": ("guard",),
}
"""Words of other tools and of people, in lower case without _ and -, and ours."""


def on_or_off(given: Any) -> str | None:
    """Return `true` or `false` for a word that means it, such as `enabled`; None for others."""
    word = bare(given.strip()) if isinstance(given, str) else ""
    return "true" if word in _ON else "false" if word in _OFF else None


def means_off(given: Any) -> bool:
    """Return whether a value says that something is off."""
    return given is False or (isinstance(given, str) and bare(given.strip()) in _OFF)


def others_word(given: Any, allowed: Collection[str]) -> str | None:
    """Return the allowed word that another tool's means; None if unknown."""
    words = _OTHERS_WORDS.get(bare(str(given).strip()), ())
    return next((word for word in words if word in allowed), None)


YES_OR_NO = dict.fromkeys(("true", "yes", "on"), "true") | dict.fromkeys(
    ("false", "no", "off"), "false"
)


def _dates(text: str) -> Iterator[str]:
    """Yield a day of a calendar as AKS wants it and as GKE does: 20.12.2026 has one reading."""
    found = re.match(r"(?:(\d{4})[-/.](\d\d?)[-/.](\d\d?)|(\d\d?)\.(\d\d?)\.(\d{4}))(?!\d)", text)
    if found:
        year, month, day = found.groups()[:3] if found[1] else found.groups()[:2:-1]
        date = f"{year}-{month:0>2}-{day:0>2}"
        yield from (date, f"{date}T00:00:00Z")


def _accounts(text: str) -> Iterator[str]:
    """Yield a service account with its whole domain, which people cut."""
    if found := re.fullmatch(r"([a-z0-9-]+@[a-z][-a-z0-9]+)(\.gserviceaccount\.com)?", text):
        yield f"{found[1]}.iam.gserviceaccount.com"


def is_placeholder(given: Any) -> bool:
    """Return whether a template or a shell should have replaced a text."""
    return _PLACEHOLDER.search(str(given)) is not None


def price(given: Any) -> str | None:
    """Return a price as a number; None if the text is none."""
    text = str(given).strip().translate(DASHES)
    found = _CURRENCY.fullmatch(text)
    return text if text == "-1" else found[1].replace(",", ".") if found else None


def plain_number(given: Any) -> float | None:
    """Return the only number of a text, such as `2.500,00 EUR` or `$1,200 a month`; None without."""
    text = str(given) if isinstance(given, str | int | float) else ""
    numbers = re.findall(r"\d[\d.,']*\d|\d", text)
    if len(numbers) != 1:
        return None
    part = re.search(r"[.,](\d{1,2}|\d{4,})$", numbers[0])
    whole = numbers[0][: part.start()] if part else numbers[0]
    return float(re.sub(r"[.,']", "", whole) + (f".{part[1]}" if part else ""))


def without_letters(given: Any) -> str | None:
    """Return a number for a text with letters that look like digits; None for others."""
    number = given.translate(_LETTERS) if isinstance(given, str) else ""
    return number if number != given and number.isdigit() else None


_LETTERS = str.maketrans("OoIl", "0011")
"""Letters that are taken for digits."""


_BOTH = "write `capacity: spot` and `fallback: [{onDemand: {maxNodes: 2}}]`"


def one_of(given: Any, allowed: list[str]) -> str:
    """Return the remedy for a text that is none of those allowed."""
    written = bare(given) if isinstance(given, str) else ""
    meant = [
        name
        for name in allowed
        if len(written) > 2
        and (
            bare(name).startswith(written) or written.startswith(bare(name)) or _ends(written, name)
        )
    ]
    if isinstance(given, list):
        if {"spot", "on-demand"} <= {*map(str, given)} & {*allowed}:
            return _BOTH
        return f"write one value, without [ ]: {', '.join(allowed)}"
    if isinstance(given, dict):
        if inside := [each for each in given.values() if each in allowed]:
            return f"write {inside[0]}, without what stands around it"
        return f"write one word, without what stands in it: {', '.join(allowed)}"
    if {"spot", "on-demand"} <= {*allowed} and "spot" in written and "demand" in written:
        return _BOTH
    words = str(given).split()
    if len(words) > 1 and all(word in allowed for word in words):
        return f"a comma is missing: write `{', '.join(words)}`"
    near = nearest(written, allowed, _SURELY) or (
        meant[0] if len(meant) == 1 else nearest(written, allowed)
    )
    inside = [name for name in allowed if str(given).lower() in name.split("-")]
    near = others_word(given, allowed) or near or " or ".join(inside)
    return (f"did you mean {near}? " if near else "") + f"one of: {', '.join(allowed)}"


_SURELY = 0.9
"""The likeness that counts more than the same beginning."""


def _ends(written: str, name: str) -> bool:
    """Return whether a text such as `mig1g` ends with an allowed `1g`."""
    return len(bare(name)) > 1 and written.endswith(bare(name))
