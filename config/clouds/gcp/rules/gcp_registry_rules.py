"""Checks of the repositories that nodes pull from."""

from __future__ import annotations

from collections.abc import Iterator

from config.base import near
from config.base.problems import Problem
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.gcp.gcp_zones import READ, zones
from config.clouds.traits import Cloud
from config.model.reading import doubled, of_each
from config.rules.draft import Draft

_MULTI_REGIONS = ("asia", "europe", "us")
"""docs.cloud.google.com/artifact-registry/docs/repositories/repo-locations"""


def _doubled(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    registries = [
        (f"cloud.registries[{index}]", registry) for index, registry in enumerate(gcp.registries)
    ]
    for path, first, _ in doubled(
        registries,
        lambda registry: (registry.project or gcp.project, registry.location, registry.repository),
    ):
        yield Problem(path, f"is the repository of {first}", "remove one of them")


def _location(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, location in of_each(
        enumerate(gcp.registries),
        lambda numbered: (f"cloud.registries[{numbered[0]}].location", numbered[1].location),
    ):
        if location not in (*zones(), *_MULTI_REGIONS):
            yield Problem(
                path,
                f"{location} is not a location that Google had in {READ}",
                near.question(location, (*zones(), *_MULTI_REGIONS))
                + "`gcloud artifacts locations list` has all; it is passed on as written",
                warning=True,
            )


CLOUD_RULES = (_doubled, _location)
