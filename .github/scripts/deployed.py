"""Finds the commit that a stack was last brought up from: what drift is measured against, as the main branch may be ahead of it.

GitHub records a deployment for every job with an environment; deploy.yml names its environments after the stacks.

Environment: GITHUB_REPOSITORY, GH_TOKEN, STACK, GITHUB_OUTPUT (gets `commit=`, empty where there was none).
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from gh import Refused, api

LOOK_BACK = 100
"""Deployments, one page: every push makes one for each stack, and those nobody approved never succeed."""


def deployed(repository: str, stack: str) -> str:
    """The commit of the newest deployment that succeeded; empty where none did."""
    for deployment in api(f"repos/{repository}/deployments?environment={stack}&per_page={LOOK_BACK}"):
        states = api(f"repos/{repository}/deployments/{int(deployment['id'])}/statuses?per_page=100")
        # A later success turns this one inactive, and the list keeps both.
        if any(status["state"] == "success" for status in states):
            return str(deployment["sha"])
    return ""


def main() -> None:
    """Raises Refused when GitHub says no."""
    stack = os.environ["STACK"]
    if not re.fullmatch(r"[A-Za-z0-9._-]+", stack):
        raise Refused(f"{stack!r} is no name of a stack")
    commit = deployed(os.environ["GITHUB_REPOSITORY"], stack)
    print(f"{stack} was last brought up from {commit}" if commit else f"{stack} was never brought up by deploy.yml")
    with Path(os.environ["GITHUB_OUTPUT"]).open("a") as outputs:
        outputs.write(f"commit={commit}\n")


if __name__ == "__main__":
    try:
        main()
    except Refused as why:
        sys.exit(f"error: {why}")
