"""Node pools -> tolerations and node affinity of the pods that run on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from config.clouds.traits import Cloud
from config.model.pool import Capacity, Effect, Taint, Toleration
from config.model.scheduling import Placement
from config.placement.node_pools import CAPACITY_LABEL, GPU_TAINT, PREFIX, NodePool

PLACEMENT_LABEL = f"{PREFIX}/placement"
"""On a pod or a namespace: one of `Placement`."""

BACK_TO_SPOT = {f"{PREFIX}/back-to-spot": "true"}
"""On a pod that keeps checkpoints: it may be evicted from an on-demand node for a spot node."""

IF_LOST = f"{PREFIX}/if-lost"
"""On a pod whose job shows what becomes of it when the pod is lost: ENDS_JOB or RESTARTED."""

ENDS_JOB, RESTARTED = "ends-job", "restarted"

ON_SPOT: dict[str, Any] = {"key": CAPACITY_LABEL, "operator": "In", "values": [Capacity.SPOT.value]}
"""The condition of a node that is bought as spot."""

PREFERENCE: dict[str, Any] = {"weight": 100, "preference": {"matchExpressions": [ON_SPOT]}}
"""A PreferredSchedulingTerm, one for all spot pools: the autoscaler chooses the pool without it."""


def usable(pools: Iterable[NodePool], placement: Placement, *, gpu: bool) -> tuple[NodePool, ...]:
    """Return the pools meant for such a pod, beside pools without taints.

    A pod without GPUs gets no GPU pool, and no on-demand pool with taints: its owner chooses those.
    A pod with GPUs gets shared GPUs only if no pool has whole ones: training asks for whole GPUs.
    """
    capacities = {
        Placement.PREFER_SPOT: tuple(Capacity) if gpu else (Capacity.SPOT, Capacity.FLEX_START),
        Placement.REQUIRE_SPOT: (Capacity.SPOT,),
        Placement.ON_DEMAND: (Capacity.ON_DEMAND,) if gpu else (),
    }[placement]
    suitable = tuple(
        pool for pool in pools if bool(pool.gpus) == gpu and pool.capacity in capacities
    )
    return tuple(pool for pool in suitable if not pool.gpu_sharing) or suitable


def tolerations(pools: Iterable[NodePool]) -> tuple[Toleration, ...]:
    """Return the tolerations that a pod needs on all of the pools: one a key, in a fixed order.

    Kubeflow's PodDefaults refuse a pod with two of one key (kubeflow/kubeflow
    components/admission-webhook/main.go).
    """
    by_key: dict[str, set[Taint]] = {}
    for pool in pools:
        for taint in pool.taints:
            if taint.effect != Effect.PREFER_NO_SCHEDULE:
                by_key.setdefault(taint.key, set()).add(taint)
    return tuple(_toleration(key, taints) for key, taints in sorted(by_key.items()))


def users_tolerations(pools: Iterable[NodePool]) -> tuple[Toleration, ...]:
    """Return the tolerations that users write on their pods; for the GPU taint in Kubernetes' form.

    ExtendedResourceToleration adds `Exists` to each pod that requests a GPU, beside any other form.
    PodTolerationRestriction, as on AKS, drops the narrower one at the pod's next update, which is
    then refused: a Job's pod keeps its finalizer and can never be deleted (kubernetes 1.36.2,
    plugin/pkg/admission).
    """
    return tuple(
        Toleration(key=given.key, operator="Exists", effect=given.effect)
        if given.key == GPU_TAINT.key
        else given
        for given in tolerations(pools)
    )


def _toleration(key: str, taints: set[Taint]) -> Toleration:
    values, effects = {taint.value for taint in taints}, {taint.effect for taint in taints}
    effect = effects.pop() if len(effects) == 1 else None
    if len(values) == 1:
        return Toleration(key=key, operator="Equal", value=values.pop(), effect=effect)
    return Toleration(key=key, operator="Exists", effect=effect)


def spot_taints(pools: Iterable[NodePool], cloud: Cloud) -> tuple[Taint, ...]:
    """Return the taints that keep pods off spot nodes: a pod that tolerates none never runs there.

    They are the cloud's own, also for pools of others. Other taints of such a node, such as a
    team's or a ComputeClass', say nothing about spot. Spot pools of an existing cluster may lack
    the cloud's taint: then the taints that no on-demand pool has.
    """
    pools, own = tuple(pools), set(cloud.spot_taints)
    unmarked = [
        pool for pool in pools if pool.capacity == Capacity.SPOT and not own & set(pool.taints)
    ]
    of_on_demand = {
        taint for pool in pools if pool.capacity == Capacity.ON_DEMAND for taint in pool.taints
    }
    separating = own | (
        {taint for pool in unmarked for taint in pool.taints} - of_on_demand - {GPU_TAINT}
    )
    return tuple(
        taint for taint in sorted(separating, key=str) if taint.effect != Effect.PREFER_NO_SCHEDULE
    )
