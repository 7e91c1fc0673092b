"""Checks of the registry the nodes pull from."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.azure.azure_settings import Azure
from config.clouds.azure.rules import azure_id_rules
from config.clouds.traits import Cloud
from config.rules.draft import Draft


def _registry(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if azure.registry:
        resource_type = "Microsoft.ContainerRegistry/registries"
        yield from azure_id_rules.check(
            "cloud.registry.id", azure.registry.id.text, resource_type, "a container registry"
        )


NEW_CLUSTER_RULES = (_registry,)
