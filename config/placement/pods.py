"""Node pools -> what a pod carries to run on them: tolerations and node affinity, as Kubernetes writes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from config.model.pool import Capacity
from config.model.scheduling import Placement
from config.model.taint import Effect, Taint, Toleration
from config.placement.node_pools import CAPACITY_LABEL, GPU_TAINT, PREFIX, NodePool

PLACEMENT_LABEL = f"{PREFIX}/placement"
"""On a pod or a namespace: one of `Placement`."""

ON_SPOT: dict[str, Any] = {"key": CAPACITY_LABEL, "operator": "In", "values": [Capacity.SPOT.value]}
"""The condition of a node that is bought as spot."""

PREFERENCE: dict[str, Any] = {"weight": 100, "preference": {"matchExpressions": [ON_SPOT]}}
"""A PreferredSchedulingTerm. One for all spot pools: which of them grows is the autoscaler's choice, which does not read it."""


def usable(pools: Iterable[NodePool], placement: Placement, *, gpu: bool) -> tuple[NodePool, ...]:
    """The pools that are meant for such a pod, beside those without taints.

    A pod without GPUs never gets a GPU pool, and of the on-demand pools none with taints: those are its owner's to give. A pod
    with GPUs gets none whose GPUs are shared where there are others: training asks for whole ones.
    """
    wanted = {
        Placement.PREFER_SPOT: tuple(Capacity) if gpu else (Capacity.SPOT,),
        Placement.REQUIRE_SPOT: (Capacity.SPOT,),
        Placement.ON_DEMAND: (Capacity.ON_DEMAND,) if gpu else (),
    }[placement]
    found = tuple(pool for pool in pools if bool(pool.gpus) == gpu and pool.capacity in wanted)
    return tuple(pool for pool in found if not pool.source.gpu_sharing) or found


def tolerations(pools: Iterable[NodePool]) -> tuple[Toleration, ...]:
    """What a pod must tolerate to run on every one of the pools: one toleration a key, in a fixed order.

    Two of one key would make Kubeflow's PodDefaults refuse the pod (kubeflow/kubeflow components/admission-webhook/main.go).
    """
    by_key: dict[str, set[Taint]] = {}
    for pool in pools:
        for taint in pool.taints:
            if taint.effect != Effect.PREFER_NO_SCHEDULE:
                by_key.setdefault(taint.key, set()).add(taint)
    return tuple(_toleration(key, taints) for key, taints in sorted(by_key.items()))


def _toleration(key: str, taints: set[Taint]) -> Toleration:
    values, effects = {taint.value for taint in taints}, {taint.effect for taint in taints}
    effect = effects.pop() if len(effects) == 1 else None
    if len(values) == 1:
        return Toleration(key=key, operator="Equal", value=values.pop(), effect=effect)
    return Toleration(key=key, operator="Exists", effect=effect)


def spot_taints(pools: Iterable[NodePool]) -> tuple[Taint, ...]:
    """The taints that tell spot from on-demand: whoever tolerates one of them may land on spot."""
    pools = tuple(pools)
    kept = {taint for pool in pools if pool.capacity == Capacity.ON_DEMAND for taint in pool.taints}
    taints = {taint for pool in pools if pool.capacity == Capacity.SPOT for taint in pool.taints}
    telling = sorted(taints - kept - {GPU_TAINT}, key=str)
    return tuple(taint for taint in telling if taint.effect != Effect.PREFER_NO_SCHEDULE)
