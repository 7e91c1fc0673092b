"""Checks of the repositories that nodes pull from."""

from __future__ import annotations

from collections.abc import Iterator

from spec.clouds import Cloud
from spec.fields import readable
from spec.problems import Problem
from spec.rules.draft import Draft


def _doubled(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    seen: dict[tuple[str, str, str], int] = {}
    settings = draft.gcp
    for index, registry in enumerate(settings.registries if settings else ()):
        if not settings or not readable(registry, "project", "location", "repository"):
            continue
        one = (registry.project or settings.project, registry.location, registry.repository)
        first = seen.setdefault(one, index)
        if first != index:
            yield Problem(
                f"cloud.registries[{index}]", f"is the repository of cloud.registries[{first}]", "remove one of them"
            )


RULES = (_doubled,)
