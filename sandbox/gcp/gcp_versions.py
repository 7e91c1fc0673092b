"""Kubernetes versions that each release channel serves (`data/facts.toml`)."""

from sandbox.cloud.facts import tables

_VERSIONS = tables("gcp")["versions"]

DEFAULT_CHANNEL = "REGULAR"


def minors(channel: str) -> tuple[str, ...]:
    """A cluster in no channel can have what Regular has (page release-channels: "No channel" is deprecated)."""
    return tuple(_VERSIONS["minors"].get(channel, _VERSIONS["minors"][DEFAULT_CHANNEL]))


def served(channel: str) -> list[str]:
    """Every version a channel has, oldest first."""
    versions = [version for version in _VERSIONS["served"] if minor(version) in minors(channel)]
    return sorted(versions, key=number)


def default(channel: str) -> str:
    return str(_VERSIONS["defaults"].get(channel, _VERSIONS["defaults"][DEFAULT_CHANNEL]))


def resolved(requested: str, channel: str) -> str | None:
    """The version that `1.36`, `1.36.4`, `latest` or a whole version stands for; None when the channel has none.

    Page versioning, "Specifying cluster version": a part of a version means the newest that begins with it; `-` the default.
    """
    if requested in ("", "-"):
        return default(channel)
    versions = served(channel)
    if requested == "latest":
        return versions[-1]
    matches = [v for v in versions if v == requested or v.startswith((f"{requested}.", f"{requested}-"))]
    return matches[-1] if matches else None


def minor(version: str) -> str:
    """`1.36` for `1.36.4-gke.1132000`."""
    return ".".join(version.split(".")[:2])


def number(version: str) -> tuple[int, ...]:
    """To compare by: 1.36 is 1.36.0, without a build."""
    patch, _, build = version.partition("-gke.")
    parts = [int(part) for part in patch.split(".") if part.isdigit()]
    return (*parts, *(0,) * (3 - len(parts)), int(build or 0))
