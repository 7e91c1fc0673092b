"""Checks of the logs and metrics that are kept."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.traits import Cloud
from config.rules.draft import Draft

_SYSTEM = "SYSTEM_COMPONENTS"


def _logging(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    yield from _doubled("cloud.logging.components", gcp.logging.components)


def _monitoring(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    path, kept = "cloud.monitoring.components", gcp.monitoring.components
    yield from _doubled(path, kept)
    if kept and _SYSTEM not in kept:
        # cloud.google.com/stackdriver/docs/solutions/gke/managing-metrics: they are always among those kept.
        yield Problem(
            path,
            f"is without {_SYSTEM}, which GKE keeps if it keeps any",
            f"add {_SYSTEM}, or write []",
        )


def _doubled(path: str, kept: tuple[str, ...]) -> Iterator[Problem]:
    for index, component in enumerate(kept):
        if component in kept[:index]:
            yield Problem(
                f"{path}[{index}]", f"{component} is in the list twice", "remove one of them"
            )


NEW_CLUSTER_RULES = (_logging, _monitoring)
