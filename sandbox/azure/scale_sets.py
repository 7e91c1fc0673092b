"""The machines of a pool: the instances of its scale set, by number (`sandbox.cloud.node_groups.Machines`).

A pool's own body has only their count. A record below it has their numbers, so that the machine that goes is the one that
was meant, and the others keep their nodes. A number is given once in a scale set's life, as scale sets do [inferred from node
names in the AKS documentation, which run ahead of the node counts].
"""

import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from sandbox.azure import azure_ids
from sandbox.azure.azure_catalogue import MIG_INSTANCES, machines
from sandbox.azure.azure_nodes import node, node_name, scale_set_name, template
from sandbox.azure.resources import azure_cluster_rules
from sandbox.azure.resources.azure_cluster import finished
from sandbox.azure.resources.azure_requests import POOL
from sandbox.cloud.node_groups import Bounds, Gpus, NodeGroup, ScaleRefused
from sandbox.cloud.spot_nodes import Condition, Refusal, SpotFacts, Taint
from sandbox.cloud.state import Body, Record, Resources

SCALE_SET = "sandbox:ScaleSet"
"""No type of azure-native: the program never sees these."""


def bounds(pool: Body) -> Bounds | None:
    return Bounds(pool["minCount"], pool["maxCount"]) if pool["enableAutoScaling"] else None


def size(resources: Resources, pool: Record) -> int:
    return int(pool.body["count"])


def instances(resources: Resources, pool: Record) -> list[int]:
    """Return the numbers of a pool's machines, in order; as many as its count says."""
    return _brought_in_line(resources, pool)[0]


def settle(resources: Resources) -> None:
    """Make every scale set as large as its pool's count: more get new numbers, the highest numbers go first."""
    for pool in resources.of_type(POOL):
        numbers, following = _brought_in_line(resources, pool)
        resources.put(
            Record(SCALE_SET, _id(pool), {**_known(resources, pool), "instances": numbers, "next": following})
        )


def resize(resources: Resources, pool: Record, count: int, *, force: bool = False) -> None:
    least, most = pool.body["minCount"], pool.body["maxCount"]
    if not (force or least <= count <= most):
        raise ScaleRefused(f"pool {pool.body['name']} takes {least} to {most} nodes, not {count}")
    pool.body["count"] = count


def remove(resources: Resources, pool: Record, nodes: Collection[str]) -> None:
    left = [name for name in zones(resources, pool) if name not in nodes]
    if len(left) < pool.body["minCount"]:
        raise ScaleRefused(f"pool {pool.body['name']} keeps {pool.body['minCount']} nodes")
    take(resources, pool, nodes)


def take(resources: Resources, pool: Record, nodes: Collection[str]) -> None:
    numbers, following = _brought_in_line(resources, pool)
    left = [n for n in numbers if _node(pool, n) not in nodes]
    pool.body["count"] = len(left)
    last = {"count": len(numbers), "until": time.time()}
    resources.put(Record(SCALE_SET, _id(pool), {"instances": left, "next": following, "last": last}))


def crossed(resources: Resources, pool: Record, count: int) -> bool:
    """Return whether a count was right until machines left, a moment ago.

    A reading: a client reads a pool and sends the count back, and the autoscaler may remove nodes between the two. AKS documents
    no refusal for that.
    """
    last = _known(resources, pool).get("last")
    return bool(last and last["count"] == count and time.time() - last["until"] < _CROSSED_S)


_CROSSED_S = 60
"""Seconds between the reading of a pool and an update with what was read, at most."""


def zones(resources: Resources, pool: Record) -> dict[str, str]:
    numbers: list[str] = pool.body.get("availabilityZones") or [""]
    return {_node(pool, n): numbers[n % len(numbers)] for n in instances(resources, pool)}


def _node(pool: Record, number: int) -> str:
    return node_name(azure_ids.parent(pool.id), pool.body["name"], number)


def _brought_in_line(resources: Resources, pool: Record) -> tuple[list[int], int]:
    known = _known(resources, pool)
    kept: list[int] = known["instances"][: pool.body["count"]]
    following = known["next"] + pool.body["count"] - len(kept)
    return [*kept, *range(known["next"], following)], following


def _known(resources: Resources, pool: Record) -> Body:
    scale_set = resources.get(_id(pool))
    return scale_set.body if scale_set else {"instances": [], "next": 0}


def _id(pool: Record) -> str:
    # Below the pool, and so removed with it.
    return f"{pool.id}/scaleSet"


def profile(cluster: Record) -> Mapping[str, Any]:
    settings: Body = azure_cluster_rules.AUTOSCALER_DEFAULTS | cluster.body.get("autoScalerProfile", {})
    return settings


def capacity(pool: Body) -> tuple[str, str]:
    return pool["vmSize"], pool.get("scaleSetPriority", "Regular")


def shown(cluster: Record) -> Body:
    """Return a cluster's body with the parts that its nodes' labels need, also while it is being made."""
    return cluster.body if "identityProfile" in cluster.body else finished(cluster.id, cluster.body)


def nodes(resources: Resources, cluster: Record, pool: Record) -> list[dict[str, Any]]:
    body, machine = shown(cluster), machines()[pool.body["vmSize"]]
    numbers = instances(resources, pool)
    return [node(cluster.id, body, pool.body, machine, number) for number in numbers]


def group(resources: Resources, cluster: Record, pool: Record) -> NodeGroup:
    name, machine = pool.body["name"], machines()[pool.body["vmSize"]]
    mig = pool.body.get("gpuInstanceProfile") or ""
    gpus = Gpus(
        machine.nvidia_gpus,
        machine.gpu_memory_gb,
        mig,
        MIG_INSTANCES.get(mig, 1),
        driver=pool.body.get("gpuProfile", {}).get("driver") != "None",
    )
    return NodeGroup(
        name=scale_set_name(cluster.id, name),
        pool=name,
        pool_id=pool.id,
        least=pool.body.get("minCount"),
        most=pool.body.get("maxCount"),
        nodes=tuple(node_name(cluster.id, name, i) for i in instances(resources, pool)),
        template=template(cluster.id, shown(cluster), pool.body, machine),
        gpus=gpus if gpus.count else None,
    )


SPOT = SpotFacts(
    # Page scheduled-events: at least 30 s for Preempt. One public timeline of 2026-08 has 39 s.
    notice=30.0,
    # The same timeline: containers stop 6 s after the condition. Page node-problem-detector: it polls for Preempt every 2 s.
    reaction=6.0,
    # What is left of the notice; the drain has no other order than the pods' own.
    grace=24.0,
    critical_grace=24.0,
    # Page node-auto-drain (2026-03): it cordons and drains for Preempt, best effort. In 2023 it did not (Azure/AKS #3528). The
    # effect of the taint is UNCONFIRMED; its name says what it does.
    taint=Taint("remediator.kubernetes.azure.com/unschedulable", "NoSchedule"),
    # maksim-paskal/aks-node-termination-handler #98, events of a node of 1.31.2.
    condition=Condition(
        "VMEventScheduled",
        "True",
        "VMEventScheduled",
        "Preempt Scheduled: {deadline}. DurationInSeconds: -1. "
        "For more information, see https://aka.ms/aks/scheduledevents.",
    ),
    events=("VMEventScheduled", "PreemptScheduled"),
    pods="deleted",
    # A drain asks the API for evictions (kubernetes.io, page disruptions, "Pod disruption conditions"); that auto-drain does
    # so too is [inferred].
    disruption=Condition("DisruptionTarget", "True", "EvictionByEvictionAPI", "Eviction API: evicting"),
    # Deleted with the capacity of its scale set, or stopped by the policy Deallocate (Azure SDK for .NET, EvictionPolicy.Delete).
    replaced=False,
    # The scale set's new size is refused as a whole.
    partial=False,
    # Page spot-node-pool: an upgrade cordons and gives notice of eviction, without a drain and without surge nodes.
    upgrade="noticed",
    # hashicorp/terraform-provider-azurerm PR 28549: a scale set of spot machines, 409. Azure/karpenter-provider-azure PR 43 reads
    # the code as "out of spot capacity".
    refused=Refusal(
        "SkuNotAvailable",
        "The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: {machine}' is currently not "
        "available in location '{region}'. Please try another size or deploy to a different location or different zone. "
        "See https://aka.ms/azureskunotavailable for details.",
    ),
    # openshift/release #33708; kubernetes/autoscaler PR 2954: quota is among what a scale set refuses at once.
    quota=Refusal(
        "QuotaExceeded",
        "Operation could not be completed as it results in exceeding approved LowPriorityCores quota. Additional details - "
        "Deployment Model: Resource Manager, Location: {region}.",
    ),
    # Azure/karpenter-provider-azure, test data of its error handling; jenkins-infra/helpdesk #3584 has the same of AKS.
    later=Refusal(
        "OverconstrainedAllocationRequest",
        "Allocation failed. VM(s) with the following constraints cannot be allocated, because the condition is too restrictive. "
        "Please remove some constraints and try again. Constraints applied are: Low Priority VMs, Preemptible VMs (VM might be "
        "preempted by another VM with a higher priority), VM Size",
    ),
    # kubernetes/autoscaler #8323 (2025-07, open): only synchronous errors come back; this one shows after the provision time.
    surfaced=False,
)

PROVISIONED_SPOT = replace(
    SPOT,
    # karpenter-provider-azure v1.14.0, pkg/cloudprovider/cloudprovider.go (RepairPolicies): an agent on the node sets this
    # condition, and Karpenter replaces the node at once. Reason and message are UNCONFIRMED.
    condition=replace(SPOT.condition, type="PreemptionScheduled", reason="PreemptionScheduled"),
    events=("PreemptionScheduled",),
    drained=False,
)
"""Machines of node auto-provisioning: Karpenter drains them, AKS does not."""
