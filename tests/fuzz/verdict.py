"""What the loader says of a file, and what is wrong with what it says."""

import re
from collections.abc import Iterator
from typing import Any

from config.base.problems import LONGEST, Problem
from tests.fuzz import corpus

_INTERNAL = re.compile(
    r"Unreadable|Unusable|Traceback|pydantic|object at 0x|<class|<function|NoneType|(: |\[|, )None\b"
)
_UNPRINTABLE = re.compile("[^\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def faults(spec: object, problems: list[Problem], settings: dict[str, Any]) -> Iterator[str]:
    """Yield why the loader's answer is not one; nothing for a good one."""
    errors = [problem for problem in problems if not problem.warning]
    if (spec is None) != bool(errors):
        yield f"{'no' if spec is None else 'a'} spec with {len(errors)} errors"
    if len(set(problems)) < len(problems):
        yield "a problem stands twice"
    known = {_plain(_shown(place)) or '""' for place, _ in corpus.places(settings)}
    # Where a list belongs and an object stands, the loader reads the object as its one entry.
    objects = {_plain(_shown(place)) for place, value in corpus.places(settings) if isinstance(value, dict)}
    for problem in problems:
        if not _names(problem.path, known, objects):
            yield f"{problem.path!r} is no place of the file"
        for text in (problem.path, problem.what, problem.remedy):
            if not text.strip() or len(text) > LONGEST or _UNPRINTABLE.search(text):
                yield f"{text!r} of {problem.path!r} is no plain text"
        # A word of AKS: `nodeOsChannel: None`.
        internal = _INTERNAL.search(f"{problem.what} {problem.remedy}".replace("one of: None, Unmanaged", ""))
        # The user may have written such a word.
        if internal and internal[0].lstrip(":[, ") not in str(settings):
            yield f"{problem.path!r} speaks of {internal[0]}: {problem.what}"


def _names(path: str, known: set[str], objects: set[str]) -> bool:
    """Return whether a path is that of a value, or of a key that is missing in an object."""
    plain = _plain(path)
    if not plain:
        return False
    if plain in known or (plain == "config" and not known):
        return True
    if len(path) >= 60 and any(other.startswith(plain.partition(" ... ")[0]) for other in known):
        return True  # shortened
    parent, _, key = plain.rpartition(".")
    if key.isdigit():
        return False
    # Under a misspelt key, or in a list where an object belongs, no place is the model's.
    return (parent in known or not parent or _names(parent, known, objects)) and (
        _in_model(plain, objects) or bool(parent and not _in_model(parent, objects))
    )


def _in_model(plain: str, objects: set[str]) -> bool:
    place = _place(plain)
    places = {place, _as_entries(plain, objects)}
    return any(corpus.node(place, of) is not None for place in places for of in ("azure", "gcp", "existing"))


def _as_entries(plain: str, objects: set[str]) -> corpus.Place:
    """Return a place with an index after each object that stands where the model has a list."""
    place: corpus.Place = ()
    parts = plain.split(".")
    for number, part in enumerate(_place(plain)):
        before = ".".join(parts[:number])
        lists = any("items" in (corpus.node(place, of) or {}) for of in ("azure", "gcp", "existing"))
        place = (*place, 0, part) if lists and before in objects else (*place, part)
    return place


def _place(plain: str) -> corpus.Place:
    return tuple(int(part) if part.isdigit() else part for part in plain.split("."))


def _shown(place: corpus.Place) -> str:
    return ".".join(str(part) for part in place)


def _plain(path: str) -> str:
    """Return a path with dots alone, and characters that cannot be printed escaped."""
    path = re.sub(r'\["(.*?)"\](?=$|[.\[])', r".\1", path, flags=re.DOTALL)
    path = re.sub(r"\[(\d+)\]", r".\1", path).removeprefix(".")
    return re.sub(
        "[^\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", lambda m: f"\\u{ord(m[0]):04x}", path
    )
