"""Questions to production stacks; each cloud's module of this name asks them."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.rules.draft import Draft


def undecided(draft: Draft, path: str, problem: str, safe: str, accepts: str) -> Iterator[Problem]:
    """A warning that a production stack does not decide a key; none elsewhere.

    `problem` is true for the default; `safe` is what to write instead of it, `accepts` the line that keeps it.
    """
    if draft.production:
        yield Problem(
            path,
            f"is not decided in a production stack: {problem}",
            f"write {safe}; {accepts} accepts it",
            True,
        )
