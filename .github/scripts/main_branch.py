"""The main branch as GitHub has it.

Branches are asked for by their full names: a tag may be called `main` too, and many requests take either.
"""

from __future__ import annotations

import re
from typing import Any

from gh import Refused, api

MAIN = "main"


def tip(repository: str) -> str:
    """The last commit of main (docs.github.com: rest/git/refs, "Get a reference"). Raises Refused."""
    reference: dict[str, Any] = api(f"repos/{repository}/git/ref/heads/{MAIN}")
    commit = reference["object"]["sha"]
    if reference["ref"] != f"refs/heads/{MAIN}" or not is_commit(commit):
        raise Refused(f"{repository} has no branch {MAIN}")
    return str(commit)


def has(repository: str, tip: str, commit: str) -> bool:
    """Whether a commit is `tip` or one of its ancestors. Raises Refused.

    The comparison is of two commits and says where the second one stands (docs.github.com: rest/commits/commits, "Compare two
    commits"). A commit of another branch or of a fork is `ahead` or `diverged`.
    """
    status = api(f"repos/{repository}/compare/{tip}...{commit}?per_page=1")["status"]
    return status in ("identical", "behind")


def is_commit(text: object) -> bool:
    """Whether a text is a commit's whole number."""
    return isinstance(text, str) and re.fullmatch(r"[0-9a-f]{40}", text) is not None
