"""Rules of the properties that a stack file names in the words of Google's provider."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from config.base.problems import Problem, as_path
from config.clouds import provider_properties
from config.clouds.gcp.gcp_pool import properties_of
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.traits import Cloud
from config.model.pool import AnyPool
from config.rules.draft import Draft


def _inside(pool: AnyPool, name: str, inner: str = "") -> Any:
    """Return a property's object, or one inside it; empty if it is none."""
    value = properties_of(pool).get(name)
    value = value.get(inner) if inner and isinstance(value, dict) else value
    return value if isinstance(value, dict) else {}


def _of_pool(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    where = f"{path}.gcp.properties"
    yield from provider_properties.problems(cloud.provider, "pool", properties_of(pool), where)


def _tags(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    own = draft.cluster.tags if draft.cluster else {}
    for name in _inside(pool, "nodeConfig", "resourceLabels"):
        if name in own:
            where = f"{path}.gcp.properties.nodeConfig.resourceLabels{as_path(str(name))}"
            yield Problem(
                where,
                "is a label of all pools, from `cluster.tags`",
                "write another name, or remove the tag there",
            )


def _managed(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # GKE refuses it (hashicorp/terraform-provider-google issue 5985; page release-channels).
    for name in ("autoUpgrade", "autoRepair"):
        if draft.makes_cluster and _inside(pool, "management").get(name) is False:
            yield Problem(
                f"{path}.gcp.properties.management.{name}",
                "is false: the cluster is in a release channel, and GKE requires it there",
                "remove it; `cloud.maintenance` says when GKE may upgrade",
            )


def _of_cluster(settings: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    yield from provider_properties.problems(
        cloud.provider, "cluster", settings.properties, "cloud.properties"
    )


ANY_POOL_RULES = (_of_pool, _tags, _managed)
NEW_CLUSTER_RULES = (_of_cluster,)
