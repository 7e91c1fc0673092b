"""The Node objects of a pool, as the cloud's nodes register themselves: pure functions of the bodies.

Deliberately leaves the kubelet's conditions and `nodeInfo` to whatever simulates it.
"""

import hashlib
from collections import ChainMap
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from sandbox.azure import azure_ids
from sandbox.azure.azure_catalogue import MIG_INSTANCES, Machine
from sandbox.cloud import node_groups
from sandbox.cloud.facts import filled, tables
from sandbox.cloud.state import Body

_KI = 1024
_MI = 1024 * 1024

# One real D2as_v4 of nominal 8 GiB showed 8129936Ki; other sizes are scaled from it [inferred]. The real share of the
# kernel falls on larger machines, so large nodes are a little too small here rather than too large.
_VISIBLE_MEMORY = 8129936 / (8 * _MI)

# AKS page node-resource-reservations, from 1.29 on: cores and reserved millicores.
_CPU_STEPS = ((1, 60), (2, 100), (4, 140), (8, 180), (16, 260), (32, 420), (64, 740))


def scale_set_digits(cluster_id: str) -> str:
    """Return the eight digits in the names of all of a cluster's scale sets (observed, not specified)."""
    number = int(hashlib.sha256(azure_ids.key(cluster_id).encode()).hexdigest(), 16)
    return f"{10_000_000 + number % 90_000_000}"


def node_name(cluster_id: str, pool: str, index: int) -> str:
    return scale_set_name(cluster_id, pool) + node_groups.base36(index, 6)


def scale_set_name(cluster_id: str, pool: str) -> str:
    """Return the name of a pool for the autoscaler (`func (scaleSet *ScaleSet) Id()`, kubernetes/autoscaler)."""
    return f"aks-{pool}-{scale_set_digits(cluster_id)}-vmss"


def gpu_resources(machine: Machine, partitions: str = "") -> dict[str, str]:
    """Return the GPUs that the autoscaler expects of a new machine: whole ones; a fraction of one counts as one
    (machine catalogue notes).

    With a MIG profile every partition counts as a GPU, which is the device plugin's `single` strategy.
    """
    if not machine.nvidia_gpus:
        return {}
    return {"nvidia.com/gpu": str(machine.nvidia_gpus * MIG_INSTANCES.get(partitions, 1))}


def reserved_cpu(cores: int) -> int:
    """Return the millicores AKS keeps for itself: between the table's rows in proportion, beyond it at the last slope."""
    for (fewer, less), (more, most) in pairwise(_CPU_STEPS):
        if cores <= more:
            return round(less + (most - less) * (cores - fewer) / (more - fewer))
    return 740 + 10 * (cores - 64)


def _resources(pool: Body, machine: Machine) -> dict[str, dict[str, str]]:
    nominal = int(machine.memory_gib * _MI)
    disk = pool["osDiskSizeGB"] * _MI
    return node_groups.resources(
        machine.vcpus,
        int(nominal * _VISIBLE_MEMORY),
        disk,
        pool["maxPods"],
        kept_cpu=reserved_cpu(machine.vcpus),
        # AKS page node-resource-reservations: min(20 MiB x maxPods + 50 MiB, 25 %), and 100 MiB for eviction.
        kept_memory_ki=min((20 * pool["maxPods"] + 50) * _KI, nominal // 4) + 100 * _KI,
        # The kubelet's own default: eviction at 10 % free.
        free_disk=disk * _KI * 9 // 10,
    )


def _zone(pool: Body, region: str, index: int) -> tuple[str, str]:
    """Return the topology zone and the disk driver's zone; nodes of a zonal pool go round the zones."""
    zones = pool.get("availabilityZones") or []
    if not zones:
        return "0", ""
    zone = f"{region}-{zones[index % len(zones)]}"
    return zone, zone


def labels(cluster_id: str, cluster: Body, pool: Body, machine: Machine, index: int, name: str = "") -> dict[str, str]:
    """Return the labels of a node, by the templates of `data/facts.toml`. `name` is the node's, else that of its scale set."""
    region, subnet = cluster["location"], pool.get("vnetSubnetID")
    zone, disk_zone = _zone(pool, region, index)
    network = cluster["networkProfile"]
    words = {
        "cluster": cluster,
        "pool": pool,
        "machine": machine,
        "properties": azure_ids.guid("properties", azure_ids.key(cluster_id), pool["name"]),
        "mode": pool["mode"].lower(),
        "os_sku": "Ubuntu2204" if pool["osSKU"] == "Ubuntu" else pool["osSKU"],
        "memory_mib": int(machine.memory_gib * 1024),
        "profile": "ephemeral" if pool["osDiskType"] == "Ephemeral" else "managed",
        "tier": "Premium_LRS" if machine.premium_disks else "Standard_LRS",
        "disk_zone": disk_zone,
        # Without a subnet of its own a cluster gets a network in its node group.
        "network": azure_ids.last(azure_ids.parent(subnet)) if subnet else f"aks-vnet-{scale_set_digits(cluster_id)}",
        "network_group": azure_ids.group_name(subnet) if subnet else cluster["nodeResourceGroup"],
        "network_guid": azure_ids.guid("network", azure_ids.key(azure_ids.parent(subnet) if subnet else cluster_id)),
        "subnet": azure_ids.last(subnet) if subnet else "aks-subnet",
        "subscription": cluster_id.split("/")[2],
    }
    applies = {
        "every": True,
        "spot": pool.get("scaleSetPriority") == "Spot",
        "gpu": machine.gpu_model.startswith("nvidia-"),
        "policy": network["networkPolicy"] != "none",
        "overlay": network.get("networkPluginMode") == "overlay",
    }
    own = [filled(template, words) for group, template in tables("azure")["labels"].items() if applies[group]]
    name = name or node_name(cluster_id, pool["name"], index)
    known = node_groups.well_known_labels(name, machine.size, machine.architecture, region, zone)
    return {**pool.get("nodeLabels", {}), **dict(ChainMap(*own)), **known}


def taints_of(texts: Iterable[str]) -> list[dict[str, str]]:
    """Return taints such as `key=value:NoSchedule`; Karpenter's have no value."""
    result = []
    for text in texts:
        pair, effect = text.rsplit(":", 1)
        key, _, value = pair.partition("=")
        result.append({"key": key, **({"value": value} if value else {}), "effect": effect})
    return result


def template(cluster_id: str, cluster: Body, pool: Body, machine: Machine) -> dict[str, Any]:
    """Return the node that the autoscaler expects when it adds one to an empty pool: of the machine's nominal size,
    all of it for pods.

    "TODO: set real allocatable" (kubernetes/autoscaler 1.36.1, cloudprovider/azure/azure_template.go). A pod that just does not fit
    gets nodes all the same. GPUs are known from the VM size.
    """
    expected = node(cluster_id, cluster, pool, machine, 0)
    size = {
        "cpu": str(machine.vcpus),
        "memory": f"{int(machine.memory_gib * 1024)}Mi",
        "pods": "110",
        "ephemeral-storage": f"{pool['osDiskSizeGB']}Gi",
        **gpu_resources(machine, pool.get("gpuInstanceProfile", "")),
    }
    expected["status"] |= {"capacity": size, "allocatable": dict(size)}
    return expected


def node(cluster_id: str, cluster: Body, pool: Body, machine: Machine, index: int) -> dict[str, Any]:
    """Return the Node object of one instance of a pool's scale set, as it registers: a device plugin is yet to report its GPUs."""
    name = node_name(cluster_id, pool["name"], index)
    machines = f"{compute(cluster_id, cluster)}/virtualMachineScaleSets/{scale_set_name(cluster_id, pool['name'])}"
    own = labels(cluster_id, cluster, pool, machine, index)
    provider_id = f"azure://{machines}/virtualMachines/{index}"
    return node_groups.node(name, own, provider_id, taints_of(pool.get("nodeTaints", [])), new_status(pool, machine))


def compute(cluster_id: str, cluster: Body) -> str:
    """Return the part of the ids of a cluster's machines that they share, as their nodes have it."""
    group = f"/subscriptions/{cluster_id.split('/')[2]}/resourceGroups/{cluster['nodeResourceGroup'].lower()}"
    return f"{group}/providers/Microsoft.Compute"


def new_status(pool: Body, machine: Machine) -> dict[str, Any]:
    """Return the status of a node that joins."""
    conditions = [
        {"type": type, "status": "False", "reason": reason, "message": message}
        for type, reason, message in tables("azure")["nodes"]["conditions"]
    ]
    return {**_resources(pool, machine), "conditions": conditions}
