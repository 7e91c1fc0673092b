"""GitHub's REST API through the `gh` command, which takes its token from GH_TOKEN. Standard library only.

Paths and versions: https://docs.github.com/en/rest
"""

from __future__ import annotations

import json
import subprocess
from typing import Any


class Refused(Exception):
    """Why a script stops. It is meant for the log of the run."""


def api(path: str, *options: str, payload: object = None) -> Any:
    """The decoded answer of GitHub to one request. Raises Refused when it says no."""
    command = ["gh", "api", path, *options]
    if payload is not None:
        command += ["--input", "-"]
    sent = None if payload is None else json.dumps(payload)
    done = subprocess.run(command, input=sent, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(f"gh api {path}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def pages(path: str) -> list[Any]:
    """The elements of all pages of a list."""
    return [element for page in api(path, "--paginate", "--slurp") for element in page]
