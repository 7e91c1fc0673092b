"""Kubernetes versions the emulated region offers, as aliases and patches.

A minor alias (`1.36`) stays an alias in the body; only `current*` carries the patch (azure-cli recording of 2025-07-01).
"""

from sandbox.cloud.facts import tables

PATCHES: dict[str, str] = tables("azure")["versions"]["patches"]

# AKS creates a cluster of the release before the newest when none is named [inferred].
DEFAULT = "1.35"


def minor(version: str) -> int:
    """35 for `1.35` and `1.35.5`."""
    return int(version.split(".")[1])


def alias(version: str) -> str:
    return ".".join(version.split(".")[:2])


def patch(version: str) -> str | None:
    """The patch a version stands for; None when the region does not offer it."""
    if version in PATCHES.values():
        return version
    return PATCHES.get(version)
