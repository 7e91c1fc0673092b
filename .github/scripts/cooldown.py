"""Says no to packages in uv.lock that are younger than a week: a release that is withdrawn or malicious is mostly known by then.

usage: cooldown.py BASE HEAD

Both are lock files. What BASE has too is not asked for again. Renovate waits for direct packages itself (`minimumReleaseAge`), not
for those that come with them, nor when it maintains the lock file (renovatebot/renovate, discussion 38115).
"""

from __future__ import annotations

import sys
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

AGE = timedelta(days=7)


def young(base: str, head: str, now: datetime) -> list[str]:
    """Return the packages of `head` that `base` has not and whose newest file is younger than AGE, or tells no age."""
    known = {file["hash"] for package in tomllib.loads(base)["package"] for file in files(package)}
    found = []
    for package in tomllib.loads(head)["package"]:
        new = [file for file in files(package) if file["hash"] not in known]
        uploads = [file.get("upload-time", now) for file in new]
        if uploads and now - max(moment(upload) for upload in uploads) < AGE:
            found.append(f"{package['name']} {package.get('version', '')}")
    return found


def files(package: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the archives of a package with their digests; none for the project itself."""
    return [*package.get("wheels", ()), *([package["sdist"]] if "sdist" in package else ())]


def moment(upload: datetime | str) -> datetime:
    """Return a time of upload, which uv writes as text."""
    return upload if isinstance(upload, datetime) else datetime.fromisoformat(upload)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    base, head = (Path(name).read_text() for name in sys.argv[1:])
    if packages := young(base, head, datetime.now(UTC)):
        sys.exit(
            f"error: younger than {AGE.days} days: {', '.join(packages)}; wait, or lock older ones: uv lock --exclude-newer"
        )
