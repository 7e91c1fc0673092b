"""Node pools of whichever cloud as they were declared, in one form: a second reading of each cloud's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.components.program import Declared

AKS_POOL = "azure-native:containerservice:AgentPool"
AKS_CLUSTER = "azure-native:containerservice:ManagedCluster"
KARPENTER_POOL = "kubernetes:karpenter.sh/v1:NodePool"
GKE_POOL = "gcp:container/nodePool:NodePool"
GKE_CLUSTER = "gcp:container/cluster:Cluster"

_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}


_MODE = "kubernetes.azure.com/mode"
"""A label of the nodes by which the system pool grows."""


@dataclass(frozen=True)
class DeclaredPool:
    """A pool as those see it who run pods."""

    name: str
    machine: str
    labels: Mapping[str, str]
    """Labels that the program sends."""
    taints: frozenset[str]
    reclaimable: bool
    bounds: tuple[int, int]
    inputs: Mapping[str, Any]


def pools(declared: Declared) -> dict[str, DeclaredPool]:
    """Return all pools beside the system pool, by name."""
    aks = (_of_aks(pool.inputs) for pool in declared.of(AKS_POOL).values())
    objects = (pool.inputs for pool in declared.of(KARPENTER_POOL).values())
    karpenter = (_of_karpenter(pool) for pool in objects if _MODE not in pool["spec"]["template"]["metadata"]["labels"])
    gke = (_of_gke(pool.inputs) for pool in declared.of(GKE_POOL).values() if pool.name != system_pool(declared))
    return {pool.name: pool for pool in (*aks, *karpenter, *gke)}


def system_pool(declared: Declared) -> str:
    """Return the name of the system pool, which is a resource like the others on GKE: the one that no output tells of."""
    published = {pool["name"] for pool in declared.outputs["pools"]}
    system_pools = [pool.name for pool in declared.of(GKE_POOL).values() if pool.inputs["name"] not in published]
    return system_pools[0] if system_pools else ""


def cluster(declared: Declared) -> Any:
    """Return the registration of the cluster."""
    (resource,) = {**declared.of(AKS_CLUSTER), **declared.of(GKE_CLUSTER)}.values()
    return resource


def _of_aks(pool: Mapping[str, Any]) -> DeclaredPool:
    return DeclaredPool(
        pool["agentPoolName"],
        pool["vmSize"],
        pool["nodeLabels"],
        frozenset(pool["nodeTaints"]),
        pool.get("scaleSetPriority") == "Spot",
        (pool["minCount"], pool["maxCount"]),
        pool,
    )


def _of_karpenter(pool: Mapping[str, Any]) -> DeclaredPool:
    spec, template = pool["spec"], pool["spec"]["template"]
    values = {each["key"]: each["values"] for each in template["spec"]["requirements"]}
    return DeclaredPool(
        pool["metadata"]["name"],
        *values["node.kubernetes.io/instance-type"],
        template["metadata"]["labels"],
        frozenset(f"{taint['key']}={taint['value']}:{taint['effect']}" for taint in template["spec"]["taints"]),
        values["karpenter.sh/capacity-type"] == ["spot"],
        (0, int(spec["limits"]["nodes"])),
        pool,
    )


def _of_gke(pool: Mapping[str, Any]) -> DeclaredPool:
    nodes, scaling = pool["nodeConfig"], pool["autoscaling"]
    return DeclaredPool(
        pool["name"],
        nodes["machineType"],
        nodes["labels"],
        frozenset(f"{taint['key']}={taint['value']}:{_EFFECTS[taint['effect']]}" for taint in nodes["taints"]),
        bool(nodes.get("spot") or nodes.get("preemptible")),
        (scaling.get("totalMinNodeCount", -1), scaling.get("totalMaxNodeCount", -1)),
        pool,
    )
