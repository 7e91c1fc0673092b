"""Likeness of names: a misspelt key, a name near to a written one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import lru_cache

from config.base.hiding import hidden

HINT = 0.7
"""The likeness (`difflib`) from which a message names a known name."""
NEAR = 0.8
"""The likeness from which a misspelt name is read as a known one, and its value is checked.

It allows one wrong letter in five; at difflib's own 0.6 half of a catalogue is near."""


@lru_cache(4096)
def bare(name: str) -> str:
    """Return a name in lower case, without _ and -."""
    return name.lower().replace("_", "").replace("-", "")


def nearest(name: str, known: Iterable[str], likeness: float = NEAR) -> str | None:
    """Return the known name that a misspelt one means; `disableX` never means `X`."""
    spelled = {bare(other): other for other in known if says_no(other) == says_no(name)}
    close = difflib.get_close_matches(bare(name), spelled, n=1, cutoff=likeness)
    return spelled[close[0]] if close else None


@lru_cache(4096)
def says_no(name: str) -> bool:
    """Return whether a key negates its subject, such as `disableLocalAccounts`."""
    return re.match("disable", bare(name)) is not None or bare(name).endswith("disabled")


def opposite(name: str, known: Iterable[str]) -> str | None:
    """Return the known key of the opposite meaning: `runCommand` for `disableRunCommand`."""
    if not says_no(name):
        return None
    subject = re.sub("^disabled?|disabled$", "", bare(name))
    others = {
        re.sub("^enabled?|enabled$", "", bare(other)): other
        for other in known
        if not says_no(other)
    }
    close = (
        [subject]
        if subject in others
        else difflib.get_close_matches(subject, others, n=1, cutoff=NEAR)
    )
    return others[close[0]] if close else None


@lru_cache(256)
def _longest(form: str) -> int:
    """Return the length of the longest name of one letter that has the form, up to 300."""
    return next((size for size in range(300, 0, -1) if re.fullmatch(form, "a" * size)), 0)


def with_form(name: str, form: str) -> str:
    """Return what is wrong with a name that is only too long, or `write for example NAME; `, with a
    name like this one that has the form; empty if there is none.
    """
    most = _longest(form)
    # Where it is cut a - may stand, which must not be the last letter.
    fits = any(re.fullmatch(form, name[:end]) for end in (most, most - 1) if end > 1)
    if len(name) > most and fits and re.fullmatch(r"[\w-]+", name):
        return f"it has {len(name)} characters, {len(name) - most} too many; "
    if re.fullmatch(r"(?i)\W*(todo|tbd|fixme|changeme|replace.?me|x{2,})\W*", name):
        return "fill it in; "
    if hidden(name) != name:
        return ""  # in another spelling nobody would know a secret as one
    if placeholder := re.search(r"<[\w -]+>", name):
        return f"fill in {placeholder[0]}; "
    lower = re.sub(r"^[a-z0-9]+://([^/]+).*", r"\1", name.lower())  # an address of a bucket
    words = re.findall("[a-z0-9]+", lower)
    telling = [word for word in words if word not in _OF_ALL_POOLS]
    if telling and len("".join(words)) > most:
        words = telling
    # As many of its words as fit, perhaps all, and of the next one as many letters.
    joined = (
        [(filler.join(words[:end]), filler, words[end:]) for filler in ("-", "")]
        for end in range(len(words), 0, -1)
    )
    tries = (
        name
        for both in joined
        for name in (*(_with_part(*each, most) for each in both), *(each[0] for each in both))
    )
    near = next((each for each in tries if re.fullmatch(form, each)), None)
    return f"write for example {near}; " if near else ""


_OF_ALL_POOLS = ("gpu", "spot", "pool", "node", "nodes", "nodepool", "vm")
"""Words of names that tell nothing."""
_TELLING = 4
"""Letters of a word by which it is known."""


def _with_part(name: str, filler: str, words: list[str], most: int) -> str:
    """Return a name with as much of the next word as fits; as it is where that tells nothing."""
    room = most - len(name) - len(filler)
    return f"{name}{filler}{words[0][:room]}" if words and room >= _TELLING else name


def did_you_mean(written: str, known: Iterable[str], most: int = 3) -> str:
    """Return `did you mean a or b? `, the nearest first; empty if no name is near. Ignore case."""
    spelled = {name.lower(): name for name in known}
    close = [
        spelled[name]
        for name in difflib.get_close_matches(written.strip().lower(), spelled, n=most, cutoff=NEAR)
    ]
    letters = sorted(written.strip().lower())
    close.sort(key=lambda name: sorted(name.lower()) != letters)  # swapped letters first
    *first, last = close or [""]
    return f"did you mean {', '.join(first)}{' or ' if first else ''}{last}? " if close else ""
