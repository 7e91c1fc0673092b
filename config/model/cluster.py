"""The settings of the cluster itself, on any cloud."""

from __future__ import annotations

import re

from pydantic import Field

from config.model.fields import Model
from config.model.release import KubernetesVersion

_PRODUCTION = re.compile(r"prod(uction)?([-_.].*)?")


def is_production(stack: str) -> bool:
    """Whether a name is a production stack's: prod or production, perhaps with a suffix, such as prod-eu."""
    return _PRODUCTION.fullmatch(stack) is not None


class Cluster(Model):
    """The cluster's name, tags and protection."""

    name: str | None = Field(
        None,
        description="The name of the cluster that the stack makes; required for one. An existing cluster's name stands in "
        "`cloud`.",
        examples=["ml-dev"],
    )
    tags: dict[str, str] = Field(
        {},
        description="Tags (on Google Cloud: labels) of the cloud's resources.",
        examples=[{"environment": "dev"}],
    )
    protect: bool | None = Field(
        None,
        description="Whether deleting or replacing the cluster is refused. Default: true in a stack called prod, production, "
        "prod-eu or the like.",
    )
    removed_pools: tuple[str, ...] = Field(
        (),
        description="Pools, by their names in the cloud, that may go with what runs on them: without, removing or renaming an "
        "on-demand pool in use is refused. Remove the line after the update.",
        examples=[["t4od"]],
    )
    kubernetes_version: KubernetesVersion | None = Field(
        None,
        description="The Kubernetes version, in quotes. Default: the release's.",
        examples=["1.35"],
    )
    reason: str | None = Field(
        None,
        min_length=8,
        description="Why kubernetesVersion differs from the release's; required with it.",
        examples=["our Istio is tested up to 1.35"],
    )
