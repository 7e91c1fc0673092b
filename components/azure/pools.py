"""Node pools as AKS holds them: pure translations, and the resource that is declared."""

from __future__ import annotations

from typing import Any

import pulumi
from pulumi_azure_native import containerservice

from components.azure.counts import LiveCluster
from spec.clouds.azure import aks
from spec.model import Capacity, SystemPool
from spec.placement import CAPACITY_LABEL, CRITICAL_ADDONS_TAINT, POOL_LABEL, NodePool

FIXED = (
    "vmSize",
    "scaleSetPriority",
    "scaleSetEvictionPolicy",
    "spotMaxPrice",
    "maxPods",
    "osDiskType",
    "type",
    "availabilityZones",
    "vnetSubnetID",
)
"""What AKS refuses to change on a pool. azure-native itself replaces for `vmSize` only and would preview an update that
Azure then answers with PropertyChangeNotAllowed (pulumi-azure-native issue 959)."""


def system_profile(pool: SystemPool, version: str, live: LiveCluster, subnet_id: pulumi.Input[str]) -> dict[str, Any]:
    """The system pool as the one entry of the cluster's `agent_pool_profiles`; `version` is the cluster's."""
    machine = aks().machine(pool.machine)
    return {
        "name": pool.name,
        "mode": "System",
        "vm_size": machine.size if machine else pool.machine,
        "orchestrator_version": version,
        **_autoscaled(pool, live),
        "node_labels": {CAPACITY_LABEL: Capacity.ON_DEMAND.value, POOL_LABEL: pool.name},
        "node_taints": [str(CRITICAL_ADDONS_TAINT)] if pool.critical_addons_only else [],
        "availability_zones": sorted(pool.zones) or None,
        "vnet_subnet_id": subnet_id,
    }


def agent_pool(pool: NodePool, version: str, live: LiveCluster) -> dict[str, Any]:
    """What a user pool asks of AKS, whatever cluster it is in.

    `version` is the cluster's: a pool that names none keeps the one it was made with when the cluster is upgraded.
    """
    args: dict[str, Any] = {
        "agent_pool_name": pool.name,
        "mode": "User",
        "vm_size": pool.machine,
        "orchestrator_version": version,
        **_autoscaled(pool, live),
        "node_labels": dict(pool.labels),
        "node_taints": [str(taint) for taint in pool.taints],
        "availability_zones": list(pool.zones) or None,
    }
    if pool.spot:
        # No upgrade settings: AKS answers 400 to maxSurge and maxUnavailable on spot pools (terraform-provider-azurerm
        # pull request 31129).
        args |= {
            "scale_set_priority": "Spot",
            "scale_set_eviction_policy": pool.spot.eviction_policy,
            "spot_max_price": pool.spot.max_price,
        }
    return args


def _autoscaled(pool: SystemPool | NodePool, live: LiveCluster) -> dict[str, Any]:
    return {
        "enable_auto_scaling": True,
        "count": live.count(pool.name, pool.min_nodes, pool.max_nodes),
        "min_count": pool.min_nodes,
        "max_count": pool.max_nodes,
        "os_type": "Linux",
        # Unset, preflight checks refuse spot pools for a surge nobody asked for (Azure/bicep-types-az issue 2217).
        "type": "VirtualMachineScaleSets",
    }


def declare(
    name: str,
    pool: NodePool,
    *,
    version: str,
    live: LiveCluster,
    resource_group: pulumi.Input[str],
    cluster: containerservice.ManagedCluster,
    subnet_id: pulumi.Input[str],
    tags: dict[str, str],
    parent: pulumi.Resource,
) -> containerservice.AgentPool:
    """One user pool. Its name is its identity, so a replacement deletes first."""
    return containerservice.AgentPool(
        f"{name}-{pool.name}",
        resource_group_name=resource_group,
        resource_name_=cluster.name,
        vnet_subnet_id=subnet_id,
        tags=tags,
        **agent_pool(pool, version, live),
        opts=pulumi.ResourceOptions(
            parent=parent,
            replace_on_changes=list(FIXED),
            delete_before_replace=True,
            deleted_with=cluster,
        ),
    )
