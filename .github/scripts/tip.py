"""Says no unless the commit of this run is main's last one: a run that waited for its approval must not bring an older commit back.

Environment: GITHUB_REPOSITORY, GITHUB_SHA, GH_TOKEN.
"""

from __future__ import annotations

import os
import sys

from gh import Refused, main_tip


def main() -> None:
    """Ask GitHub for main's last commit. Raises Refused."""
    commit, tip = os.environ["GITHUB_SHA"], main_tip(os.environ["GITHUB_REPOSITORY"])
    if commit != tip:
        raise Refused(f"main has moved on from {commit} to {tip}: approve the run of that commit")
    print(f"main is at {commit}")


if __name__ == "__main__":
    try:
        main()
    except Refused as why:
        sys.exit(f"error: {why}")
