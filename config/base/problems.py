"""A problem of a stack file, and the message of a list of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import indent

from config.base.hiding import hidden

LONGEST = 800
"""Characters of a part of a problem; a list of all keys of an object is shorter."""

MOST = 200
"""Problems that a report shows: more are one mistake, made by a program."""


@dataclass(frozen=True, order=True)
class Problem:
    """A path, its problem, and the remedy. A warning does not stop the program."""

    path: str
    what: str
    remedy: str
    warning: bool = False

    def __post_init__(self) -> None:
        # Done here for every rule: a message may quote a million characters.
        for name in ("path", "what", "remedy"):
            object.__setattr__(self, name, _shortened(getattr(self, name)))

    def __str__(self) -> str:
        return f"{self.path}: {self.what}\n    {self.remedy}"


def as_path(key: str) -> str:
    """Return a key as the end of a path: `.key`, or `["key"]` if it is more than a word."""
    return f".{key}" if re.fullmatch(r"\w+", key) else f'["{key}"]'


def _shortened(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    text = hidden(text)  # of a secret that is cut, nobody knows the end as one
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 4 :]}"


def report(problems: Iterable[Problem], mended: Iterable[object] = ()) -> str:
    """Return all errors as one message, and below them what is `mended`."""
    errors = [problem for problem in problems if not problem.warning]
    head = (
        f"{len(errors)} problem{'s' if len(errors) > 1 else ''} in the stack's settings; nothing "
        "was declared."
    )
    more = [f"  and {len(errors) - MOST:,} more"] if len(errors) > MOST else []
    below = [indent(f"{each}", "  ") for each in mended]
    return "\n".join([head, *(f"  {each}" for each in errors[:MOST]), *more, *below])
