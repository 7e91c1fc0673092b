"""The ComputeClass that gives GKE the order of pools: when a stack has one, and the label and taint of its pools.

docs.cloud.google.com/kubernetes-engine/docs/concepts/about-custom-compute-classes: with pools made by hand each has the class
as a label and as a taint, each pool is in one class at most, and pods ask for the class by a nodeSelector.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.traits import Cloud
from config.model.pool import Pool
from config.placement import admission

LABEL = "cloud.google.com/compute-class"
"""Key of the label and of the taint."""


def mode(
    settings: Gcp, pools: Iterable[Pool], cloud: Cloud, version: str, *, by_default: bool
) -> Literal["compute-class", "affinity"]:
    """The means by which GPU pools are tried in order. `by_default`: whether policies of this program place pods.

    Raises `config.model.fields.Unreadable` when a pool that decides cannot be read.
    """
    if settings.fallback.mode:
        return settings.fallback.mode
    # In an existing cluster GPU pods may be meant for other pools; without a policy no pod asks for the class.
    if settings.existing_cluster or not by_default or not admission.mutates(version):
        return "affinity"
    ordered = any(cloud.gpus(pool)[0] and pool.fallback for pool in pools)
    return "compute-class" if ordered else "affinity"
