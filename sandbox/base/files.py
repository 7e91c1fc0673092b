"""Files that are written whole or not at all, and the error for one that is broken all the same."""

import json
import os
from pathlib import Path
from tempfile import mkstemp
from typing import Any

from sandbox.base.errors import SandboxError

ANEW = "`down --force` removes this stack's sandbox, and `up` makes it anew"
"""The remedy for a file of which there is no copy."""


class Unreadable(SandboxError):
    """A file of the sandbox is cut off, or of another version. Nobody may take it for an empty one."""

    def __init__(self, path: Path, reason: object, remedy: str = ANEW) -> None:
        super().__init__(f"{path} is cut off or broken: {reason}. Nothing was changed.\n  {remedy}")


def read_json(path: Path, remedy: str = ANEW) -> Any:
    """Return the content of a file. Raises FileNotFoundError, and Unreadable for what is no JSON."""
    text = path.read_bytes()
    try:
        return json.loads(text)
    except ValueError as broken:
        raise Unreadable(path, broken, remedy) from broken


def write_private(path: Path, content: bytes) -> None:
    """Replace a file at once; only its owner can read it at any time."""
    replace(path, content, 0o600)


def replace(path: Path, content: bytes, mode: int) -> None:
    """Replace a file at once. Threads and processes may replace one file together: the last content stays."""
    descriptor, unfinished = mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            file.write(content)
        Path(unfinished).replace(path)
    except BaseException:
        Path(unfinished).unlink()
        raise
