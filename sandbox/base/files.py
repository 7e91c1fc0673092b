"""Files that are never half written."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import mkstemp


def write_private(path: Path, content: bytes) -> None:
    """Replace a file at once, readable by its owner alone at every moment."""
    replace(path, content, 0o600)


def replace(path: Path, content: bytes, mode: int) -> None:
    """Replace a file at once. Any number of threads and processes may do so to one file: the last stays."""
    descriptor, unfinished = mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            file.write(content)
        Path(unfinished).replace(path)
    except BaseException:
        Path(unfinished).unlink()
        raise
