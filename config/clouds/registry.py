"""Which cloud a stack file speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterable

from config.clouds.azure.settings import Azure
from config.clouds.azure.traits import aks
from config.clouds.existing.settings import Existing
from config.clouds.existing.traits import existing
from config.clouds.gcp.settings import Gcp
from config.clouds.gcp.traits import gke
from config.clouds.traits import Cloud


def of(settings: Azure | Gcp | Existing) -> Cloud:
    """The traits of the cloud with these settings."""
    if isinstance(settings, Azure):
        return aks()
    return gke() if isinstance(settings, Gcp) else existing()


def with_machine(size: str) -> Cloud | None:
    """The cloud whose machine sizes look like this one; None when neither's do."""
    return next((cloud for cloud in (aks(), gke()) if re.fullmatch(cloud.machine_form, size)), None)


def likely(sizes: Iterable[str]) -> Cloud:
    """The cloud most of these machine sizes look like, that of the first stacks when none does."""
    sizes = tuple(sizes)
    return max((aks(), gke()), key=lambda cloud: sum(with_machine(size) is cloud for size in sizes))
