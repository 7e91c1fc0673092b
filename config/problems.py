"""A problem of a stack file, and the message of a list of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Problem:
    """A path, its problem, and the remedy. A warning does not stop the program."""

    path: str
    what: str
    remedy: str
    warning: bool = False

    def __str__(self) -> str:
        return f"{self.path}: {self.what}\n    {self.remedy}"


def report(problems: Iterable[Problem]) -> str:
    """All errors as one message."""
    errors = [problem for problem in problems if not problem.warning]
    head = f"{len(errors)} problem{'s' if len(errors) > 1 else ''} in the stack's settings; nothing was declared."
    return "\n".join([head, *(f"  {problem}" for problem in errors)])
