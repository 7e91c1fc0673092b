"""GKE's release channels. Sources: README.md beside this file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from config.clouds.machines import rows


@dataclass(frozen=True)
class Channel:
    """The Kubernetes versions of a release channel, such as 1.34 to 1.36, and the month in which they were read."""

    first: str
    last: str
    read: str

    def has(self, minor: str) -> bool:
        """Whether a minor version is between the first and the last."""
        return _minor(self.first) <= _minor(minor) <= _minor(self.last)


@cache
def channels() -> dict[str, Channel]:
    """The release channels by name."""
    return {row.pop("channel"): Channel(**row) for row in rows(__file__, "channels")}


def _minor(version: str) -> int:
    return int(version.split(".")[1])
