"""Build errors: too little disk, and the remedy for a failed build."""

import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from sandbox.base.errors import ProgramError
from sandbox.base.notices import Notify

COLD_BUILD = 6 << 30  # bytes that Go's caches take when every module is built for the first time


LEAST_FREE = 1 << 30  # bytes below which every build fails: the linked programs alone are 0.6 GB


def check_disk(folders: Sequence[Path], notify: Notify) -> None:
    """Warn when a cold build may not fit, refuse when none can. Raises ProgramError with the folder's name."""
    warned = False
    for folder in folders:
        free = _free(folder)
        if free < LEAST_FREE:
            raise ProgramError(explain("no space left", folder))
        if free < COLD_BUILD and not warned:
            notify(f"{folder} has {free / (1 << 30):.1f} GB free; a first build needs about 6 GB, a later one less")
            warned = True


def explain(output: str, folder: Path) -> str:
    """Return the remedy for a failed build, from its output."""
    text = output.lower()
    if "no space left" in text or os.strerror(errno.ENOSPC).lower() in text:
        return (
            f"The disk is full: {folder} has {_free(folder) / (1 << 30):.1f} GB free and a first build needs about 6 GB there"
            " and in Go's caches. Free some space (`go clean -cache` empties Go's build cache), or point XDG_CACHE_HOME,"
            " GOCACHE and GOMODCACHE at a larger disk, then run the command again."
        )
    if "signal: killed" in text:
        return "The compiler was killed, most likely for want of memory: it needs about 4 GB. Run the command again."
    if "checksum mismatch" in text or "missing go.sum entry" in text or "updates to go.mod needed" in text:
        return "The pinned modules do not fit: `git status tools` must be clean; `go clean -modcache` refetches them."
    if any(sign in text for sign in ("dial tcp", "i/o timeout", "no such host", "proxyconnect", "tls:", "403", "502")):
        return "Go could not download a module: check the network and GOPROXY, then run the command again."
    return "Run the command again: Go's build cache keeps what was compiled."


def _free(folder: Path) -> int:
    """Return the free bytes of the disk that a folder is or will be on."""
    return shutil.disk_usage(next(path for path in (folder, *folder.parents) if path.exists())).free
