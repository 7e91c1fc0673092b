"""Checks of the registry the nodes pull from."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.azure.rules import ids
from config.clouds.traits import Cloud
from config.draft import Draft
from config.problems import Problem


def _registry(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.new_aks and draft.new_aks.registry:
        wanted = "Microsoft.ContainerRegistry/registries"
        yield from ids.check("cloud.registry.id", draft.new_aks.registry.id, wanted, "a container registry")


RULES = (_registry,)
