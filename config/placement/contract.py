"""The contract with users' tools: labels and taints of the pools, and the lines that put a pod on them.

Deliberately without bounds, prices and versions: it stays the same when a pool is resized.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from config.model.pool import Capacity
from config.model.scheduling import Placement
from config.placement.node_pools import CAPACITY_LABEL, POOL_LABEL, NodePool
from config.placement.pods import ON_SPOT, PREFERENCE, usable, users_tolerations

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _affinity(placement: Placement, pools: Iterable[NodePool]) -> dict[str, Any]:
    match placement:
        case Placement.PREFER_SPOT:
            return {"preferredDuringSchedulingIgnoredDuringExecution": [PREFERENCE]}
        case Placement.REQUIRE_SPOT:
            condition = ON_SPOT
        case Placement.ON_DEMAND:
            # Nodes without the label meet it as well.
            ending = {Capacity.SPOT, *(pool.capacity for pool in pools)} - {Capacity.ON_DEMAND}
            condition = {
                "key": CAPACITY_LABEL,
                "operator": "NotIn",
                "values": [capacity.value for capacity in sorted(ending, reverse=True)],
            }
    return {_REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [condition]}]}}


def snippets(pools: Iterable[NodePool]) -> dict[str, dict[str, Any]]:
    """Parts of a pod's spec by name.

    `gpu-PLACEMENT` and `cpu-PLACEMENT`, for each placement that such pods have pools for, and `pool-LABEL` for one pool
    alone. A pod without GPUs that is to stay on demand needs no lines.
    """
    pools = tuple(pools)
    parts: dict[str, dict[str, Any]] = {}
    for resource in ("gpu", "cpu"):
        for placement in Placement:
            suitable = usable(pools, placement, gpu=resource == "gpu")
            if suitable:
                parts[f"{resource}-{placement}"] = {
                    "tolerations": _tolerated(suitable),
                    **({"nodeSelector": selector} if (selector := _selector(suitable)) else {}),
                    "affinity": {"nodeAffinity": _affinity(placement, pools)},
                }
    for pool in pools:
        parts[f"pool-{pool.label}"] = {
            "tolerations": _tolerated([pool]),
            "nodeSelector": {POOL_LABEL: pool.label, **_selector([pool])},
        }
    return parts


def _selector(pools: Iterable[NodePool]) -> dict[str, str]:
    """The class that a pod must ask for. A stack has one at most; pods with GPUs prefer its pools."""
    return next((dict(pool.selector) for pool in pools if pool.selector), {})


def described(pools: Iterable[NodePool]) -> list[dict[str, Any]]:
    """Each pool as a tool sees its nodes. `gpus` are those of one node.

    `largestRequest` is what one pod can ask for and fits an empty node. AKS' autoscaler takes the machine's whole size for
    that (kubernetes/autoscaler 1.36.1, azure_template.go): for a pod between the two it buys node after node, in vain.
    """
    return [
        {
            "name": pool.name,
            "label": pool.label,
            "capacity": pool.capacity.value,
            **({"accelerator": pool.gpu_model} if pool.gpus else {}),
            "gpus": pool.gpus,
            **({"largestRequest": dict(pool.largest_request)} if pool.largest_request else {}),
            "labels": dict(pool.labels),
            "taints": [taint.model_dump(mode="json") for taint in pool.taints],
        }
        for pool in pools
    ]


def _tolerated(pools: Iterable[NodePool]) -> list[dict[str, str]]:
    return [toleration.as_manifest() for toleration in users_tolerations(pools)]
