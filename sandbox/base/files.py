"""Files that are written whole or not at all."""

import os
from pathlib import Path
from tempfile import mkstemp


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
