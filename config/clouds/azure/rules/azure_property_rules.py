"""Rules of the properties that a stack file names in Azure's own words."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem, as_path
from config.clouds import provider_properties
from config.clouds.azure.azure_pool import nodes_of
from config.clouds.azure.azure_settings import Azure
from config.clouds.traits import Cloud
from config.model.pool import AnyPool
from config.rules.draft import Draft


def _of_pool(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    where = f"{path}.azure.properties"
    yield from provider_properties.problems(
        cloud.provider, "pool", nodes_of(pool).properties, where
    )


def _tags(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    tags = nodes_of(pool).properties.get("tags")
    # Azure compares the names of tags without their case (page tag-resources).
    own = {name.lower() for name in (draft.cluster.tags if draft.cluster else ())}
    for name in tags if isinstance(tags, dict) else ():
        if str(name).lower() in own:
            where = f"{path}.azure.properties.tags{as_path(str(name))}"
            yield Problem(
                where,
                "is a tag of all pools, from `cluster.tags`",
                "write another name, or remove the tag there",
            )


def _of_cluster(settings: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    yield from provider_properties.problems(
        cloud.provider, "cluster", settings.properties, "cloud.properties"
    )


ANY_POOL_RULES = (_of_pool, _tags)
NEW_CLUSTER_RULES = (_of_cluster,)
