"""Checks of the repositories that nodes pull from."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.gcp.settings import Gcp
from config.clouds.traits import Cloud
from config.draft import Draft
from config.problems import Problem
from config.reading import doubled


def _doubled(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    registries = [(f"cloud.registries[{index}]", registry) for index, registry in enumerate(gcp.registries)]
    for path, first, _ in doubled(registries, lambda one: (one.project or gcp.project, one.location, one.repository)):
        yield Problem(path, f"is the repository of {first}", "remove one of them")


CLOUD_RULES = (_doubled,)
