"""Kubernetes versions that each release channel serves.

Minors and defaults are those of GKE's release notes (docs.cloud.google.com) of September and October 2026. Of each minor one patch
is served here; the numbers after `-gke.` are examples, but for 1.36.3-gke.1767000, read on a node.
"""

from __future__ import annotations

_PATCHES = {
    "1.31": "1.31.14-gke.1283000",
    "1.32": "1.32.11-gke.1174000",
    "1.33": "1.33.9-gke.1129000",
    "1.34": "1.34.9-gke.1045000",
    "1.35": "1.35.7-gke.1098000",
    "1.36": "1.36.4-gke.1132000",
    "1.37": "1.37.1-gke.1020000",
}
_OTHERS = ("1.36.3-gke.1767000", "1.35.6-gke.1212000")
_MINORS = {
    "RAPID": ("1.34", "1.35", "1.36", "1.37"),
    "REGULAR": ("1.34", "1.35", "1.36"),
    "STABLE": ("1.34", "1.35"),
    "EXTENDED": ("1.31", "1.32", "1.33", "1.34", "1.35", "1.36"),
}
# Extended follows Regular (page release-channels).
_DEFAULTS = {
    "RAPID": "1.36.4-gke.1132000",
    "REGULAR": "1.35.7-gke.1098000",
    "STABLE": "1.35.6-gke.1212000",
    "EXTENDED": "1.35.7-gke.1098000",
}
DEFAULT_CHANNEL = "REGULAR"


def minors(channel: str) -> tuple[str, ...]:
    """A cluster in no channel can have what Regular has (page release-channels: "No channel" is deprecated)."""
    return _MINORS.get(channel, _MINORS[DEFAULT_CHANNEL])


def served(channel: str) -> list[str]:
    """Every version a channel has, oldest first."""
    found = [version for version in (*_PATCHES.values(), *_OTHERS) if minor(version) in minors(channel)]
    return sorted(found, key=number)


def default(channel: str) -> str:
    return _DEFAULTS.get(channel, _DEFAULTS[DEFAULT_CHANNEL])


def resolved(wanted: str, channel: str) -> str | None:
    """The version that `1.36`, `1.36.4`, `latest` or a whole version stands for; None when the channel has none.

    Page versioning, "Specifying cluster version": a part of a version means the newest that begins with it; `-` the default.
    """
    if wanted in ("", "-"):
        return default(channel)
    there = served(channel)
    if wanted == "latest":
        return there[-1]
    found = [v for v in there if v == wanted or v.startswith((f"{wanted}.", f"{wanted}-"))]
    return found[-1] if found else None


def minor(version: str) -> str:
    """`1.36` for `1.36.4-gke.1132000`."""
    return ".".join(version.split(".")[:2])


def number(version: str) -> tuple[int, ...]:
    """To compare by: 1.36 is 1.36.0, without a build."""
    patch, _, build = version.partition("-gke.")
    parts = [int(part) for part in patch.split(".") if part.isdigit()]
    return (*parts, *(0,) * (3 - len(parts)), int(build or 0))
