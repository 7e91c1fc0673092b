"""The Kubernetes versions that a cloud offered when its list was read. Each cloud's folder has its list, with the source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Versions:
    """The minor versions of Kubernetes that a cloud offered, such as 1.34 to 1.37, and the month in which they were read."""

    first: str
    last: str
    read: str

    def has(self, minor: str) -> bool:
        """Whether a minor version is between the first and the last."""
        return number(self.first) <= number(minor) <= number(self.last)


def number(version: str) -> int:
    """35 of a version such as 1.35 or 1.35.7."""
    return int(version.split(".")[1])
