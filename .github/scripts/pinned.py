"""Says no unless a commit is the last one of an open pull request from this repository.

A commit of a fork can be fetched from the repository it was forked from, so its number alone proves nothing.

Environment: GITHUB_REPOSITORY, GH_TOKEN, PULL_REQUEST (a number), COMMIT (40 hexadecimal digits).
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from gh import Refused, api, is_commit


def check(pull: dict[str, Any], commit: str, repository: str) -> None:
    """Raise Refused with what is wrong."""
    number, head = pull["number"], pull["head"]
    if pull["state"] != "open":
        raise Refused(f"#{number} is not open")
    if (head["repo"] or {}).get("full_name") != repository:
        raise Refused(f"#{number} is from another repository: push its branch to {repository} once you have read it")
    if head["sha"] != commit:
        raise Refused(f"#{number} is at {head['sha']}, not at {commit}")


def main() -> None:
    """Ask GitHub for the pull request. Raises Refused."""
    repository, number, commit = (os.environ[name] for name in ("GITHUB_REPOSITORY", "PULL_REQUEST", "COMMIT"))
    if not re.fullmatch(r"[1-9][0-9]{0,9}", number):
        raise Refused("the pull request is not given by its number")
    if not is_commit(commit):
        raise Refused("the commit is not given by all its 40 digits")
    check(api(f"repos/{repository}/pulls/{number}"), commit, repository)
    print(f"#{number} is at {commit}")


if __name__ == "__main__":
    try:
        main()
    except Refused as why:
        sys.exit(f"error: {why}")
