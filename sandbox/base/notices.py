"""Notices: lines that tell the person at the terminal what takes long."""

import sys
from collections.abc import Callable

Notify = Callable[[str], None]
"""Takes one line at a time."""


def to_stderr(line: str) -> None:
    """Print a notice apart from the result, which goes to stdout."""
    # In one piece: several threads write side by side.
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def discard(line: str) -> None:
    """Print nothing: for a command whose output is one JSON object."""
    del line
