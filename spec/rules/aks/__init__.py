"""Checks that are about AKS only."""

from __future__ import annotations

from spec.rules.aks import (
    access,
    autoscaler,
    cluster,
    disks,
    encryption,
    monitoring,
    network,
    ranges,
    registries,
    spot,
    system_pool,
    upgrades,
)

MODULES = (
    access,
    autoscaler,
    cluster,
    disks,
    encryption,
    monitoring,
    network,
    ranges,
    registries,
    spot,
    system_pool,
    upgrades,
)
