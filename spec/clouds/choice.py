"""Which cloud a stack file speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterable

from spec.azure import Azure
from spec.clouds import Cloud
from spec.clouds.azure import aks
from spec.clouds.existing import existing
from spec.clouds.gcp import gke
from spec.existing import Existing
from spec.gcp import Gcp


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
