"""Pools as Karpenter's objects, for AKS' node auto-provisioning: pure translations.

Each pool is a NodePool, which says when machines are made, and an AKSNodeClass, which says what they
are; both have the pool's name. Sources: the CRDs of Azure/karpenter-provider-azure v1.14.0
(`pkg/apis/crds`), the code of sigs.k8s.io/karpenter v1.14.1, and AKS' pages
node-auto-provisioning-node-pools, -aksnodeclass and -disruption. Decision: docs/adr/0023.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pulumi

from components.azure import provisioned_pools
from components.target import PoolObject, Stack
from config.clouds import registry
from config.clouds.azure.azure_node_provisioning import AzureNodeProvisioning
from config.clouds.azure.azure_pool import settings_of
from config.clouds.azure.azure_settings import Azure
from config.model.fields import Reference
from config.placement.growth_order import growth_order
from config.placement.node_pools import NodePool, Role

GROUP, VERSION = "karpenter.azure.com", "v1beta1"
NODE_POOL_API, NODE_CLASS_API = "karpenter.sh/v1", f"{GROUP}/{VERSION}"
NODE_POOL, NODE_CLASS = "NodePool", "AKSNodeClass"

_HEAVIEST = 100
"""The CRD's highest weight; Karpenter tries the heaviest pool that fits a pod first."""

_MODE = "kubernetes.azure.com/mode"
_FEW = "10%"
"""Karpenter's default (page node-auto-provisioning-disruption)."""


@dataclass(frozen=True)
class Provisioned:
    """What the objects of all pools of one stack share."""

    settings: AzureNodeProvisioning
    location: str
    tags: Mapping[str, str]
    """Of every machine."""
    at_host: bool
    """Whether machines encrypt temporary disks and caches."""
    order: Sequence[str]
    """Names of all pools in their order of growth."""
    moves_pods: bool
    """Whether pods that may move can be told from those that may not."""


def surge(system: NodePool) -> NodePool:
    """Return the pool of the machines that the system pool grows by.

    AKS takes no autoscaled pool beside node auto-provisioning, whose own pool `system-surge` does
    the same (page node-auto-provisioning-node-pools). One that can grow no more stays, with a limit
    of no nodes: Karpenter drains the nodes of a NodePool that is deleted.
    """
    return replace(system, min_nodes=0, max_nodes=system.max_nodes - system.min_nodes)


def node_class(pool: NodePool, stack: Provisioned, subnet: Any) -> dict[str, Any]:
    """Return the spec of a pool's AKSNodeClass. `subnet`: its id, known or not; None for AKS' own."""
    source = pool.source
    spec: dict[str, Any] = {"imageFamily": "Ubuntu", "tags": dict(stack.tags)}
    if subnet is not None:
        spec["vnetSubnetID"] = subnet
    if size := settings_of(source).os_disk.size_gb:
        spec["osDiskSizeGB"] = size
    if source.max_pods:
        spec["maxPods"] = source.max_pods
    if stack.at_host:
        spec["security"] = {"encryptionAtHost": True}
    if pool.gpus:
        spec["gpu"] = {"mode": "Driver" if pool.install_driver else "None"}
    return spec


def node_pool(pool: NodePool, stack: Provisioned) -> dict[str, Any]:
    """Return the spec of a pool's NodePool."""
    own = stack.settings
    labels = dict(pool.labels)
    if pool.role == Role.SYSTEM:
        labels[_MODE] = "system"
    template = {
        "metadata": {"labels": labels},
        "spec": {
            "nodeClassRef": {"group": GROUP, "kind": NODE_CLASS, "name": pool.name},
            "requirements": _requirements(pool, stack.location),
            "taints": [taint.model_dump(mode="json") for taint in pool.taints],
            "expireAfter": own.expire_after or "Never",
        },
    }
    return {
        "weight": _HEAVIEST - stack.order.index(pool.name),
        # Karpenter counts nodes as it counts any other resource (scheduling/scheduler.go).
        "limits": {"nodes": str(pool.max_nodes)},
        "template": template,
        "disruption": {
            "consolidationPolicy": "WhenEmptyOrUnderutilized"
            if stack.moves_pods and _moves(pool)
            else "WhenEmpty",
            "consolidateAfter": own.consolidate_after,
            "budgets": [
                {"nodes": "100%", "reasons": ["Empty"]},
                # A node's work leaves it when the cheaper node is up: back to spot all may go.
                {
                    "nodes": own.disruption_budget or ("100%" if pool.twin else _FEW),
                    "reasons": ["Underutilized"],
                },
                {"nodes": own.disruption_budget or _FEW, "reasons": ["Drifted"]},
            ],
        },
    }


def _moves(pool: NodePool) -> bool:
    """Return whether pods may be moved off a pool's nodes to save money.

    From an on-demand twin they go back to spot. Pods without GPUs on demand are packed, as the
    cluster autoscaler does. Pods on spot stay: each move loses work, and Karpenter moves none from
    spot to spot unless told to (disruption/consolidation.go, SpotToSpotConsolidation). Pods that
    may not run on spot are kept by `components.layer.scheduling.kept_pods`.
    """
    return not pool.spot and (pool.twin or not pool.gpus)


def _requirements(pool: NodePool, location: str) -> list[dict[str, Any]]:
    one_of = {
        "node.kubernetes.io/instance-type": [pool.machine],
        "karpenter.sh/capacity-type": ["spot" if pool.spot else "on-demand"],
        "kubernetes.io/os": ["linux"],
    }
    if pool.zones:
        one_of["topology.kubernetes.io/zone"] = [f"{location}-{zone}" for zone in pool.zones]
    return [{"key": key, "operator": "In", "values": values} for key, values in one_of.items()]


def pool_objects(
    pools: Sequence[NodePool],
    cloud: Azure,
    stack: Provisioned,
    subnet_id: Callable[[Reference | None], pulumi.Input[str] | None],
) -> tuple[PoolObject, ...]:
    """Return the objects of these pools, each class before its pool."""
    objects = []
    for pool in pools:
        subnet = subnet_id(settings_of(pool.source).subnet)
        node_class_spec = node_class(pool, stack, subnet)
        objects += [
            PoolObject(pool.name, NODE_CLASS_API, NODE_CLASS, node_class_spec),
            PoolObject(
                pool.name,
                NODE_POOL_API,
                NODE_POOL,
                node_pool(pool, stack),
                {provisioned_pools.ANNOTATION: json.dumps(provisioned_pools.facts(pool, cloud))},
            ),
        ]
    return tuple(objects)


def of_stack(
    stack: Stack, subnet_id: Callable[[Reference | None], pulumi.Input[str] | None]
) -> tuple[PoolObject, ...]:
    """Return the objects of a stack's pools, and of the machines that its system pool grows by."""
    spec, cloud, system = stack.spec, stack.spec.cloud, stack.system_pool
    assert isinstance(cloud, Azure)
    assert cloud.node_provisioning
    assert cloud.location
    assert system
    shared = Provisioned(
        cloud.node_provisioning,
        cloud.location,
        spec.cluster.tags,
        cloud.encryption.at_host,
        growth_order(spec, stack.node_pools, registry.cloud_of(cloud)),
        spec.moves_pods,
    )
    return pool_objects((surge(system), *stack.node_pools), cloud, shared, subnet_id)
