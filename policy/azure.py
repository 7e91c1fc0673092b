"""AKS: pools are agent pools of their own, entries of the cluster, or in a template that is deployed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policy.cloud import Cloud
from policy.declared import UNKNOWN, Declared, Unknown
from policy.pool import Bounds, Pool, Spot, Taint, Taints
from policy.ranges import hold_everybody
from policy.rule import Finding

CLUSTER = "azure-native:containerservice:ManagedCluster"
POOL = "azure-native:containerservice:AgentPool"
DEPLOYMENT = "azure-native:resources:Deployment"
_GROUP = "azure-native:resources:ResourceGroup"
_ASSIGNMENT = "azure-native:authorization:RoleAssignment"
_DEPLOYED = "microsoft.containerservice/managedclusters/agentpools"

_NVIDIA = re.compile(r"standard_n[cdv].*", re.IGNORECASE)
_AMD = re.compile(r".*(\das_v4|_v710_.*|_mi\d+x?_.*)", re.IGNORECASE)
"""Sizes of family N have GPUs; their names tell the accelerator of the newer ones, and NVv4 has AMD's
(https://learn.microsoft.com/azure/virtual-machines/vm-naming-conventions, sizes/gpu-accelerated/nv-family)."""

SPOT = Spot(
    "scaleSetPriority",
    ("kubernetes.azure.com/scalesetpriority", "spot"),
    ("kubernetes.azure.com/scalesetpriority",),
)
"""https://learn.microsoft.com/azure/aks/spot-node-pool"""

_RANGES = "apiServerAccessProfile.authorizedIPRanges"

_BROAD = {
    "8e3af657-a8ff-443c-a75c-2fe8c4bcb635": "Owner",
    "b24988ac-6180-42a0-ab88-20f7382dd24c": "Contributor",
    "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9": "User Access Administrator",
    "f58310d9-a9f6-439a-9e8d-f62e7b41a168": "Role Based Access Control Administrator",
}
"""https://learn.microsoft.com/azure/role-based-access-control/built-in-roles/privileged"""
_WIDE = re.compile(
    r"/subscriptions/[^/]+(/resourcegroups/[^/]+)?/?|/providers/microsoft\.management/.*|/", re.IGNORECASE
)
"""A subscription, a resource group, a management group or the tenant: everything in it, now and later."""
_PEOPLE = ("user", "group")


def pools(declared: Declared) -> Iterator[Pool]:
    """The pools in one resource."""
    if declared.type == POOL:
        yield _pool("", declared.inputs)
    if declared.type == CLUSTER:
        profiles = declared.get("agentPoolProfiles")
        for index, profile in enumerate(profiles if isinstance(profiles, list) else ()):
            if isinstance(profile, Mapping):
                yield _pool(f"agentPoolProfiles[{index}].", profile)
    if declared.type == DEPLOYMENT:
        resources = declared.get("properties.template.resources")
        for index, resource in enumerate(resources if isinstance(resources, list) else ()):
            if isinstance(resource, Mapping) and _is(resource.get("type"), _DEPLOYED):
                properties = resource.get("properties")
                path = f"properties.template.resources[{index}].properties."
                yield _pool(path, properties if isinstance(properties, Mapping) else {})


def api_server(declared: Declared) -> Iterator[Finding]:
    """A public API server whose ranges are missing or hold everybody."""
    if declared.type != CLUSTER or declared.get("apiServerAccessProfile.enablePrivateCluster") in (True, UNKNOWN):
        return
    ranges = declared.get(_RANGES)
    if ranges is None or ranges == []:
        yield Finding(
            _RANGES,
            "a public API server without ranges",
            "list who may reach it, or set enablePrivateCluster: true",
        )
    elif isinstance(ranges, list) and hold_everybody(ranges):
        yield Finding(_RANGES, "a range that holds every address", "list who may reach it")


def accounts(declared: Declared) -> Iterator[Finding]:
    """Local accounts, which AKS has unless they are switched off."""
    if declared.type == CLUSTER and declared.get("disableLocalAccounts") not in (True, UNKNOWN):
        yield Finding(
            "disableLocalAccounts",
            "one administrator's certificate that is the same for everybody",
            "set it to true, with aadProfile.managed: true so that people can log in",
        )


def roles(declared: Declared) -> Iterator[Finding]:
    """Broad roles of a whole subscription or group, for others than people."""
    if declared.type != _ASSIGNMENT:
        return
    role, scope, who = (declared.get(name) for name in ("roleDefinitionId", "scope", "principalType"))
    title = _BROAD.get(str(role).rpartition("/")[2].lower())
    if who is UNKNOWN or str(who).lower() in _PEOPLE:
        return
    if title and isinstance(scope, str) and _WIDE.fullmatch(scope):
        yield Finding(
            "roleDefinitionId",
            f"{title} of a whole subscription or group",
            "give the identity the role it needs at the one resource it needs it for",
        )


def has_nvidia(size: Any) -> bool:
    """Whether a VM size has NVIDIA GPUs, by its name."""
    return isinstance(size, str) and bool(_NVIDIA.fullmatch(size)) and not _AMD.fullmatch(size)


def _pool(at_path: str, inputs: Mapping[str, Any]) -> Pool:
    spot = _is(inputs.get("scaleSetPriority"), "spot")
    return Pool(
        nvidia_at=f"{at_path}vmSize" if has_nvidia(inputs.get("vmSize")) else None,
        spot=Spot(at_path + SPOT.path, SPOT.taint, SPOT.kept_off_by) if spot else None,
        system_at=f"{at_path}mode" if _is(inputs.get("mode"), "system") else None,
        taints=Taints(f"{at_path}nodeTaints", _taints(inputs.get("nodeTaints")), "{key}={value}:NoSchedule"),
        # Pools of single machines have a profile for each size (REST reference, VirtualMachinesProfile).
        bounds=None if inputs.get("virtualMachinesProfile") is not None else _bounds(at_path, inputs),
    )


def _is(value: Any, word: str) -> bool:
    # Azure's words are compared without case.
    return isinstance(value, str) and value.lower() == word


def _bounds(at_path: str, inputs: Mapping[str, Any]) -> Bounds | None:
    scaled = inputs.get("enableAutoScaling")
    if scaled is UNKNOWN:
        return None
    # A fixed pool that says nothing has one node (REST reference, `count`).
    return (
        Bounds(f"{at_path}maxCount", inputs.get("maxCount"))
        if scaled
        else Bounds(f"{at_path}count", inputs.get("count", 1))
    )


def _taints(found: Any) -> tuple[Taint, ...] | Unknown:
    if found is UNKNOWN or (isinstance(found, list) and UNKNOWN in found):
        return UNKNOWN
    parts = (re.fullmatch(r"([^=:]+)(?:=[^:]*)?:(\w+)", str(taint)) for taint in found or ())
    return tuple(Taint(part[1], part[2]) for part in parts if part)


CLOUD = Cloud(
    cluster=CLUSTER,
    # https://learn.microsoft.com/azure/aks/use-tags
    tags={CLUSTER: "tags", POOL: "tags", _GROUP: "tags"},
    pools=pools,
    api_server=api_server,
    accounts=accounts,
    roles=roles,
)
