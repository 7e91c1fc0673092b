"""Checks that are about GKE only. Pages are docs.cloud.google.com/kubernetes-engine/docs/<...>/<page>."""

from __future__ import annotations

from spec.rules.gke import (
    access,
    bounds,
    cluster,
    disks,
    encryption,
    fallback,
    gpus,
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
    bounds,
    cluster,
    disks,
    encryption,
    fallback,
    gpus,
    monitoring,
    network,
    ranges,
    registries,
    spot,
    system_pool,
    upgrades,
)
