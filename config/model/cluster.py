"""The settings of the cluster itself, on any cloud."""

from __future__ import annotations

import re

from pydantic import Field

from config.model.fields import Model
from config.model.release import KubernetesVersion

_PRODUCTION = re.compile(r"prod(uction)?([-_.].*)?")


def is_production(stack: str) -> bool:
    """Whether a stack is called as production stacks are: prod or production, or so and more, such as prod-eu."""
    return _PRODUCTION.fullmatch(stack) is not None


class Cluster(Model):
    """What the cluster is called and how well it is guarded."""

    name: str | None = Field(None, description="of a cluster this stack makes; an existing one has its name in cloud")
    tags: dict[str, str] = Field({})
    protect: bool | None = Field(
        None,
        description="refuse to delete or replace the cluster; default: true in a stack called prod, production, prod-eu or so",
    )
    kubernetes_version: KubernetesVersion | None = Field(None, description="instead of the release's")
    reason: str | None = Field(None, min_length=8, description="why kubernetesVersion differs from the release's")
