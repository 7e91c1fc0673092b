"""Which cloud a stack file speaks of."""

from __future__ import annotations

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
