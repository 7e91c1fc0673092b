"""Kubernetes versions the emulated region offers, as aliases and patches.

A minor alias (`1.36`) stays an alias in the body; only `current*` carries the patch (azure-cli recording of 2025-07-01).
"""

from sandbox.cloud.facts import tables

PATCHES: dict[str, str] = tables("azure")["versions"]["patches"]

LONG_TERM: dict[str, str] = tables("azure")["versions"]["long_term"]
"""Further ones, for clusters with the support plan AKSLongTermSupport."""

# AKS creates a cluster of the release before the newest when none is named [inferred].
DEFAULT = "1.35"


def minor(version: str) -> int:
    """35 for `1.35` and `1.35.5`."""
    return int(version.split(".")[1])


def alias(version: str) -> str:
    return ".".join(version.split(".")[:2])


def patch(version: str) -> str | None:
    """The patch a version stands for; None when the region does not offer it."""
    every = LONG_TERM | PATCHES
    return version if version in every.values() else every.get(version)


def long_term_only(version: str) -> bool:
    """Whether the region offers a version with long-term support alone."""
    return alias(version) in LONG_TERM and patch(version) is not None
