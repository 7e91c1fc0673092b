"""The registration of an existing cluster."""

from __future__ import annotations

from config.clouds.existing.existing_settings import Existing
from config.clouds.existing.existing_traits import ExistingCluster
from config.clouds.registry import Registration

REGISTRATION = Registration(
    provider="existing",
    settings=Existing,
    traits=ExistingCluster(),
    rules="config.clouds.existing.rules",
)
