"""The contract with users' tools: labels and taints of the pools, and a pod's lines for them.

It has no bounds, prices or versions: it stays the same when a pool is resized.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from config.clouds.traits import Cloud
from config.model.cluster import CloudSettings
from config.model.pool import Capacity
from config.model.scheduling import Placement
from config.placement.node_pools import CAPACITY_LABEL, POOL_LABEL, PREFIX, NodePool
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
    """Return parts of a pod's spec by name.

    `gpu-PLACEMENT` and `cpu-PLACEMENT` for each placement with suitable pools, and `pool-LABEL` for
    one pool. A pod without GPUs that stays on demand needs no lines.
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
    """Return the class that a pod must ask for; a stack has one at most."""
    return next((dict(pool.selector) for pool in pools if pool.selector), {})


def described_pools(pools: Iterable[NodePool]) -> list[dict[str, Any]]:
    """Return each pool as a tool sees its nodes; `gpus` are those of one node.

    `largestRequest` is the most that one pod can request and fits an empty node. AKS' autoscaler
    counts the machine's whole size (kubernetes/autoscaler 1.36.1, azure_template.go): for a larger
    pod it buys node after node, in vain.
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


_TITLE = "GPU on an on-demand machine"
_LOCAL = {"config.kubernetes.io/local-config": "true"}
"""Kustomize reads an object with this annotation and omits it from its output."""


def kubeflow_values(
    pools: Iterable[NodePool],
    cloud: Cloud,
    settings: CloudSettings | None,
    of: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the object that `kubeflow/values` holds, as kustomize reads it.

    `spawner` has two fields of the form for notebooks (spawner_ui_config.yaml of kubeflow/manifests
    26.03, applications/jupyter/jupyter-web-app), whose one option is the contract's
    `gpu-on-demand`, if the stack has on-demand GPUs. `disk` is what `workloads.storageClass` makes;
    `workspaceDisk` is for notebooks; both are missing for an unknown cloud. `of` becomes
    annotations, which show whose values a file holds.
    """
    key = f"gpu-{Placement.ON_DEMAND}"
    lines = snippets(pools).get(key)
    affinity, tolerations = [], []
    if lines:
        affinity = [{"configKey": key, "displayName": _TITLE, "affinity": lines["affinity"]}]
        tolerations = [
            {"groupKey": key, "displayName": _TITLE, "tolerations": lines["tolerations"]}
        ]
    disks = {
        "disk": cloud.durable_disks(settings),
        "workspaceDisk": cloud.workspace_disks(settings),
    }
    whose = {f"{PREFIX}/{key}": value for key, value in (of or {}).items()}
    return {
        "apiVersion": f"{PREFIX}/v1",
        "kind": "KubeflowValues",
        "metadata": {"name": "values", "annotations": {**_LOCAL, **whose}},
        **{
            key: {"provisioner": disk[0], "parameters": dict(disk[1])}
            for key, disk in disks.items()
            if disk
        },
        "spawner": {"affinityConfig": _field(affinity), "tolerationGroup": _field(tolerations)},
    }


def _field(options: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a field of the form, with nothing chosen."""
    return {"readOnly": False, "value": "", "options": options}
