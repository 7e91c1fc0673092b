"""The ComputeClass that tells GKE in which order to grow pools: whether there is one, and what its pools and pods carry.

docs.cloud.google.com/kubernetes-engine/docs/concepts/about-custom-compute-classes: with pools made by hand each has the class
as a label and as a taint, each pool is in one class at most, and pods ask for the class by a nodeSelector.
"""

from __future__ import annotations

from spec.gcp import Gcp
from spec.model import ClusterSpec, Pool, Taint

LABEL = "cloud.google.com/compute-class"
"""Key of the label and of the taint."""


def name(spec: ClusterSpec) -> str | None:
    """What the class of this stack is called; None when it has none.

    A class holds every GPU pool, for a pod that asks for it is kept off all pools that are not in it.
    """
    if not isinstance(spec.cloud, Gcp):
        return None
    mode = spec.cloud.fallback.mode or _default(spec)
    return spec.cloud.fallback.class_name if mode == "compute-class" else None


def _default(spec: ClusterSpec) -> str:
    assert isinstance(spec.cloud, Gcp)
    ordered = any(pool.fallback for pool in spec.pools)
    # Only a MutatingAdmissionPolicy, `v1` from 1.36 on, can make pods ask for the class by themselves. In a cluster of
    # somebody else GPU pods may be meant for other pools.
    able = tuple(map(int, spec.kubernetes_version.split(".")[:2])) >= (1, 36)
    ours = spec.cloud.existing_cluster is None and spec.scheduling.enabled
    return "compute-class" if ordered and able and ours else "affinity"


def may_join(pool: Pool) -> bool:
    """Whether the stack file lets the pool, if it has GPUs, be in the class."""
    return pool.gcp is None or pool.gcp.compute_class


def taint(class_name: str) -> Taint:
    """What keeps pods that do not ask for the class off its pools."""
    return Taint(key=LABEL, value=class_name)
