"""GitHub's REST API through the `gh` command, which takes its token from GH_TOKEN. Standard library only.

Paths and versions: https://docs.github.com/en/rest
"""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

MAIN = "main"


class Refused(Exception):
    """Why a script stops. It is meant for the log of the run."""


def api(path: str, *options: str, payload: object = None) -> Any:
    """Return the decoded answer of GitHub to one request. Raises Refused when it says no."""
    command = ["gh", "api", path, *options]
    if payload is not None:
        command += ["--input", "-"]
    sent = None if payload is None else json.dumps(payload)
    done = subprocess.run(command, input=sent, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(f"gh api {path}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def pages(path: str) -> list[Any]:
    """Return the elements of all pages of a list."""
    return [element for page in api(path, "--paginate", "--slurp") for element in page]


def main_tip(repository: str) -> str:
    """Return the last commit of main (docs.github.com: rest/git/refs, "Get a reference"). Raises Refused.

    The branch is asked for by its full name: a tag may be called `main` too, and many requests take either.
    """
    reference: dict[str, Any] = api(f"repos/{repository}/git/ref/heads/{MAIN}")
    commit = reference["object"]["sha"]
    if reference["ref"] != f"refs/heads/{MAIN}" or not is_commit(commit):
        raise Refused(f"{repository} has no branch {MAIN}")
    return str(commit)


def has(repository: str, tip: str, commit: str) -> bool:
    """Return whether a commit is `tip` or one of its ancestors. Raises Refused.

    The comparison is of two commits and says where the second one stands (docs.github.com: rest/commits/commits, "Compare two
    commits"). A commit of another branch or of a fork is `ahead` or `diverged`.
    """
    status = api(f"repos/{repository}/compare/{tip}...{commit}?per_page=1")["status"]
    return status in ("identical", "behind")


def is_commit(text: object) -> bool:
    """Return whether a text is a commit's whole number."""
    return isinstance(text, str) and re.fullmatch(r"[0-9a-f]{40}", text) is not None
