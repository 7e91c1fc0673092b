"""Pools of AKS: agent pools, entries of a cluster, or resources of a deployed template."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policy.cloud import Bounds, Pool, Spot, Taint, Taints
from policy.declared import UNKNOWN, Declared, Unknown

CLUSTER = "azure-native:containerservice:ManagedCluster"
POOL = "azure-native:containerservice:AgentPool"
DEPLOYMENT = "azure-native:resources:Deployment"
_DEPLOYED = "microsoft.containerservice/managedclusters/agentpools"

_NVIDIA = re.compile(r"standard_n[cdv].*", re.IGNORECASE)
_AMD = re.compile(r".*(\das_v4|_v710_.*|_mi\d+x?_.*)", re.IGNORECASE)
"""Sizes of family N have GPUs; newer names contain the accelerator, and NVv4 has AMD GPUs
(https://learn.microsoft.com/azure/virtual-machines/vm-naming-conventions, .../nv-family)."""

SPOT = Spot(
    "scaleSetPriority",
    ("kubernetes.azure.com/scalesetpriority", "spot"),
    ("kubernetes.azure.com/scalesetpriority",),
)
"""https://learn.microsoft.com/azure/aks/spot-node-pool"""


def pools(declared: Declared) -> Iterator[Pool]:
    """Yield the pools in one resource."""
    for at_path, inputs in declared_pools(declared):
        yield _pool(at_path, inputs)


def declared_pools(declared: Declared) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield path and inputs of each pool in one resource."""
    if declared.type == POOL:
        yield "", declared.inputs
    if declared.type == CLUSTER:
        profiles = declared.get("agentPoolProfiles")
        for index, profile in enumerate(profiles if isinstance(profiles, list) else ()):
            if isinstance(profile, Mapping):
                yield f"agentPoolProfiles[{index}].", profile
    if declared.type == DEPLOYMENT:
        resources = declared.get("properties.template.resources")
        for index, resource in enumerate(resources if isinstance(resources, list) else ()):
            if isinstance(resource, Mapping) and _is(resource.get("type"), _DEPLOYED):
                properties = resource.get("properties")
                path = f"properties.template.resources[{index}].properties."
                yield path, properties if isinstance(properties, Mapping) else {}


def has_nvidia(size: Any) -> bool:
    """Return whether a VM size has NVIDIA GPUs, by its name."""
    return isinstance(size, str) and bool(_NVIDIA.fullmatch(size)) and not _AMD.fullmatch(size)


def _pool(at_path: str, inputs: Mapping[str, Any]) -> Pool:
    spot = _is(inputs.get("scaleSetPriority"), "spot")
    return Pool(
        nvidia_at=f"{at_path}vmSize" if has_nvidia(inputs.get("vmSize")) else None,
        spot=Spot(at_path + SPOT.path, SPOT.taint, SPOT.kept_off_by) if spot else None,
        system_at=f"{at_path}mode" if _is(inputs.get("mode"), "system") else None,
        taints=Taints(
            f"{at_path}nodeTaints", _taints(inputs.get("nodeTaints")), "{key}={value}:NoSchedule"
        ),
        # Pools of single machines have bounds for each size (REST: VirtualMachinesProfile).
        bounds=None
        if inputs.get("virtualMachinesProfile") is not None
        else _bounds(at_path, inputs),
    )


def _is(value: Any, word: str) -> bool:
    # Azure compares words without case.
    return isinstance(value, str) and value.lower() == word


def _bounds(at_path: str, inputs: Mapping[str, Any]) -> Bounds | None:
    scaled = inputs.get("enableAutoScaling")
    if scaled is UNKNOWN:
        return None
    # A pool of constant size without a count has one node (REST reference, `count`).
    return (
        Bounds(f"{at_path}maxCount", inputs.get("maxCount"))
        if scaled
        else Bounds(f"{at_path}count", inputs.get("count", 1))
    )


def _taints(listed: Any) -> tuple[Taint, ...] | Unknown:
    if listed is UNKNOWN or (isinstance(listed, list) and UNKNOWN in listed):
        return UNKNOWN
    parts = (re.fullmatch(r"([^=:]+)(?:=[^:]*)?:(\w+)", str(taint)) for taint in listed or ())
    return tuple(Taint(part[1], part[2]) for part in parts if part)
