"""Checks of the repositories that nodes pull from."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.gcp.settings import Gcp
from config.clouds.traits import Cloud
from config.draft import Draft
from config.model.fields import readable
from config.problems import Problem


def _doubled(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    seen: dict[tuple[str, str, str], int] = {}
    for index, registry in enumerate(gcp.registries):
        if not readable(registry, "project", "location", "repository"):
            continue
        one = (registry.project or gcp.project, registry.location, registry.repository)
        first = seen.setdefault(one, index)
        if first != index:
            yield Problem(
                f"cloud.registries[{index}]", f"is the repository of cloud.registries[{first}]", "remove one of them"
            )


CLOUD_RULES = (_doubled,)
