"""Pools of GKE: node pools, entries of a cluster, or the initial pool of a cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from policy.cloud import Bounds, Pool, Spot, Taint, Taints
from policy.declared import UNKNOWN, Declared, Unknown, at

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"

_NVIDIA = re.compile(r"(a[2-9]x?|g[2-9])-.+")
"""Machines with built-in GPUs (compute/docs/accelerator-optimized-machines)."""

_KEPT_OFF_BY = (
    "cloud.google.com/gke-spot",
    "cloud.google.com/gke-preemptible",
    "cloud.google.com/gke-flex-start",
    "cloud.google.com/gke-provisioning",
    # Pods that ask for the class tolerate only this taint (page about-custom-compute-classes).
    "cloud.google.com/compute-class",
)

_WAYS = {
    "spot": ("cloud.google.com/gke-spot", "true"),
    "preemptible": ("cloud.google.com/gke-preemptible", "true"),
    # Never reclaimed, but ended after a time: the same pods must keep off (page dws).
    "flexStart": ("cloud.google.com/gke-flex-start", "true"),
}
"""https://docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms and .../preemptible-vms"""

_SYSTEM = ("CriticalAddonsOnly", "components.gke.io/gke-managed-components")
"""Taints of pools for GKE's own pods, for which GKE has no kind of pool
(https://docs.cloud.google.com/kubernetes-engine/docs/how-to/isolate-workloads-dedicated-nodes)."""

_WITHOUT_FIRST = ("removeDefaultNodePool", "enableAutopilot")
"""With one of these the cluster keeps no initial pool."""

_EFFECTS = {
    "NO_SCHEDULE": "NoSchedule",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
    "NO_EXECUTE": "NoExecute",
}

_ZONES_OF_A_REGION = 3
"""Zones of a regional pool, unless it or its cluster, which is unknown here, names zones
(https://docs.cloud.google.com/kubernetes-engine/docs/concepts/regional-clusters)."""


def pools(declared: Declared) -> Iterator[Pool]:
    """Yield the pools in one resource."""
    for at_path, inputs in declared_pools(declared):
        pool = _pool(at_path, inputs)
        first = inputs is declared.inputs and declared.type == CLUSTER
        yield replace(pool, system_at="nodeConfig", bounds=None) if first else pool


def declared_pools(declared: Declared) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield path and inputs of each pool; the inputs of an initial pool are the cluster's."""
    if declared.type == POOL:
        yield "", declared.inputs
    if declared.type == CLUSTER:
        listed = declared.get("nodePools")
        for index, pool in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(pool, Mapping):
                yield f"nodePools[{index}].", pool
        # A cluster that lists its pools has no other (REST reference, `nodePools`).
        if listed in (None, []) and not any(
            declared.get(name) in (True, UNKNOWN) for name in _WITHOUT_FIRST
        ):
            yield "", declared.inputs


def has_nvidia(config: Any) -> str | None:
    """Return the setting that means NVIDIA GPUs; None without such a setting."""
    accelerators = at(config, "guestAccelerators")
    for accelerator in accelerators if isinstance(accelerators, list) else ():
        if str(at(accelerator, "type")).startswith("nvidia-") and at(accelerator, "count") != 0:
            return "guestAccelerators"
    machine = at(config, "machineType")
    return "machineType" if isinstance(machine, str) and _NVIDIA.fullmatch(machine) else None


def _pool(at_path: str, inputs: Mapping[str, Any]) -> Pool:
    config = inputs.get("nodeConfig")
    nodes = f"{at_path}nodeConfig."
    nvidia = has_nvidia(config)
    way = next((way for way in _WAYS if at(config, way) is True), None)
    taints = _taints(at(config, "taints"))
    return Pool(
        nvidia_at=nodes + nvidia if nvidia else None,
        spot=Spot(nodes + way, _WAYS[way], _KEPT_OFF_BY) if way else None,
        system_at=_system(at_path, inputs, taints),
        taints=Taints(
            f"{nodes}taints", taints, "{key: {key}, value: {value}, effect: NO_SCHEDULE}"
        ),
        bounds=_bounds(at_path, inputs),
    )


def _system(
    at_path: str, inputs: Mapping[str, Any], taints: tuple[Taint, ...] | Unknown
) -> str | None:
    if inputs.get("name") == "system":
        return f"{at_path}name"
    if isinstance(taints, tuple) and any(taint.key in _SYSTEM for taint in taints):
        return f"{at_path}nodeConfig.taints"
    return None


def _bounds(at_path: str, inputs: Mapping[str, Any]) -> Bounds | None:
    scaled = inputs.get("autoscaling")
    if scaled is UNKNOWN:
        return None
    if scaled is None:
        fixed = "nodeCount" if "nodeCount" in inputs else "initialNodeCount"
        return Bounds(f"{at_path}{fixed}", _whole(inputs.get(fixed, 0), inputs))
    total = at(scaled, "totalMaxNodeCount")
    # GKE writes 0 for none.
    if total not in (None, 0):
        return Bounds(f"{at_path}autoscaling.totalMaxNodeCount", total)
    return Bounds(f"{at_path}autoscaling.maxNodeCount", _whole(at(scaled, "maxNodeCount"), inputs))


def _whole(each: Any, inputs: Mapping[str, Any]) -> Any:
    """Return the nodes of the whole pool from the number in each zone."""
    return each * _zones(inputs) if isinstance(each, int | float) else each


def _zones(inputs: Mapping[str, Any]) -> int:
    named = inputs.get("nodeLocations")
    if isinstance(named, list) and named:
        return len(named)
    location = inputs.get("location")
    return _ZONES_OF_A_REGION if isinstance(location, str) and location.count("-") == 1 else 1


def _taints(declared: Any) -> tuple[Taint, ...] | Unknown:
    if declared is UNKNOWN or (isinstance(declared, list) and UNKNOWN in declared):
        return UNKNOWN
    listed = [taint for taint in (declared or ()) if isinstance(taint, Mapping)]
    return tuple(Taint(taint.get("key", ""), _effect(taint.get("effect"))) for taint in listed)


def _effect(word: Any) -> str | Unknown:
    return UNKNOWN if word is UNKNOWN else _EFFECTS.get(str(word), str(word))
