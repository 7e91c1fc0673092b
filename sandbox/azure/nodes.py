"""The Node objects of a pool, as the cloud's nodes register themselves: pure functions of the bodies.

Names and labels follow a spot node dump of v1.34.7 (2026-05-30) and a regular node of v1.32.7; see `labels`.
Deliberately leaves the kubelet's conditions and `nodeInfo` to whatever simulates it.
"""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import Any

from sandbox.azure import ids
from sandbox.azure.machines import MIG_INSTANCES, Machine
from sandbox.cloud.state import Body

_KI = 1024
_MI = 1024 * 1024

# One real D2as_v4 of nominal 8 GiB showed 8129936Ki; other sizes are scaled from it [inferred]. The real share of the
# kernel falls on larger machines, so large nodes are a little too small here rather than too large.
_VISIBLE_MEMORY = 8129936 / (8 * _MI)

# AKS page node-resource-reservations, from 1.29 on: cores and reserved millicores.
_CPU_STEPS = ((1, 60), (2, 100), (4, 140), (8, 180), (16, 260), (32, 420), (64, 740))

# AKS page node-problem-detector: its conditions on a node that is well, with its reasons and messages. Those it has of GPUs
# (GPUMissing, XIDErrors and others) were seen in no dump.
_CONDITIONS = (
    ("VMEventScheduled", "NoVMEventScheduled", "VM has no scheduled event"),
    ("FrequentContainerdRestart", "NoFrequentContainerdRestart", "containerd is functioning properly"),
    ("FrequentDockerRestart", "NoFrequentDockerRestart", "docker is functioning properly"),
    ("FrequentKubeletRestart", "NoFrequentKubeletRestart", "kubelet is functioning properly"),
    ("FrequentUnregisterNetDevice", "NoFrequentUnregisterNetDevice", "node is functioning properly"),
    ("FilesystemCorruptionProblem", "FilesystemIsOK", "Filesystem is healthy"),
    ("ContainerRuntimeProblem", "ContainerRuntimeIsUp", "container runtime service is up"),
    ("KernelDeadlock", "KernelHasNoDeadlock", "kernel has no deadlock"),
    ("KubeletProblem", "KubeletIsUp", "kubelet service is up"),
    ("ReadonlyFilesystem", "FilesystemIsNotReadOnly", "Filesystem is not read-only"),
)

_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"


def scale_set_digits(cluster_id: str) -> str:
    """The eight digits in the names of all of a cluster's scale sets (observed, not specified)."""
    number = int(hashlib.sha256(ids.key(cluster_id).encode()).hexdigest(), 16)
    return f"{10_000_000 + number % 90_000_000}"


def node_name(cluster_id: str, pool: str, index: int) -> str:
    suffix = ""
    for _ in range(6):
        index, digit = divmod(index, 36)
        suffix = _BASE36[digit] + suffix
    return scale_set_name(cluster_id, pool) + suffix


def scale_set_name(cluster_id: str, pool: str) -> str:
    """What the autoscaler calls a pool (`func (scaleSet *ScaleSet) Id()`, kubernetes/autoscaler)."""
    return f"aks-{pool}-{scale_set_digits(cluster_id)}-vmss"


def gpu_resources(machine: Machine, partitions: str = "") -> dict[str, str]:
    """What the autoscaler expects of a new machine: whole GPUs; a fraction of one counts as one (machine catalogue notes).

    With a MIG profile every partition counts as a GPU, which is the device plugin's `single` strategy.
    """
    if not machine.nvidia_gpus:
        return {}
    return {"nvidia.com/gpu": str(machine.nvidia_gpus * MIG_INSTANCES.get(partitions, 1))}


def reserved_cpu(cores: int) -> int:
    """Millicores AKS keeps for itself; between the table's rows in proportion, beyond 64 cores at the last slope."""
    for (fewer, less), (more, most) in pairwise(_CPU_STEPS):
        if cores <= more:
            return round(less + (most - less) * (cores - fewer) / (more - fewer))
    return 740 + 10 * (cores - 64)


def _resources(pool: Body, machine: Machine) -> tuple[dict[str, str], dict[str, str]]:
    nominal = int(machine.memory_gib * _MI)
    memory = int(nominal * _VISIBLE_MEMORY)
    # AKS page node-resource-reservations: min(20 MiB x maxPods + 50 MiB, 25 %), and 100 MiB for eviction.
    reserved = min((20 * pool["maxPods"] + 50) * _KI, nominal // 4) + 100 * _KI
    disk = pool["osDiskSizeGB"] * _MI
    shared = {"pods": str(pool["maxPods"]), "hugepages-1Gi": "0", "hugepages-2Mi": "0"}
    capacity = {"cpu": str(machine.vcpus), "memory": f"{memory}Ki", "ephemeral-storage": f"{disk}Ki", **shared}
    allocatable = {
        "cpu": f"{machine.vcpus * 1000 - reserved_cpu(machine.vcpus)}m",
        "memory": f"{memory - reserved}Ki",
        # The kubelet's own default: eviction at 10 % free.
        "ephemeral-storage": str(disk * _KI * 9 // 10),
        **shared,
    }
    return capacity, allocatable


def _zone(pool: Body, region: str, index: int) -> tuple[str, str]:
    """The topology zone and the disk driver's zone; nodes of a zonal pool go round the zones."""
    zones = pool.get("availabilityZones") or []
    if not zones:
        return "0", ""
    zone = f"{region}-{zones[index % len(zones)]}"
    return zone, zone


def labels(cluster_id: str, cluster: Body, pool: Body, machine: Machine, index: int) -> dict[str, str]:
    """The labels of a node.

    Spot nodes carry both `priority=spot` and `scalesetpriority=spot`; regular nodes neither, as `priority=regular` was
    never seen on a node (UNCONFIRMED). Overlay clusters add the network labels.
    """
    region, size = cluster["location"], machine.size
    zone, disk_zone = _zone(pool, region, index)
    profile = "ephemeral" if pool["osDiskType"] == "Ephemeral" else "managed"
    tier = "Premium_LRS" if machine.premium_disks else "Standard_LRS"
    azure = {
        "agentpool": pool["name"],
        "cluster": cluster["nodeResourceGroup"][:63],
        "consolidated-additional-properties": ids.guid("properties", ids.key(cluster_id), pool["name"]),
        "kubelet-identity-client-id": cluster["identityProfile"]["kubeletidentity"]["clientId"],
        "kubelet-serving-ca": "cluster",
        "localdns-state": "disabled",
        "mode": pool["mode"].lower(),
        "node-image-version": pool["nodeImageVersion"],
        "nodepool-type": pool["type"],
        "os-sku": pool["osSKU"],
        "os-sku-effective": "Ubuntu2204" if pool["osSKU"] == "Ubuntu" else pool["osSKU"],
        "os-sku-requested": pool["osSKU"],
        "role": "agent",
        "sku-cpu": str(machine.vcpus),
        "sku-memory": str(int(machine.memory_gib * 1024)),
        "storageprofile": profile,
        "storagetier": tier,
    }
    if cluster["networkProfile"]["networkPolicy"] != "none":
        azure["network-policy"] = cluster["networkProfile"]["networkPolicy"]
    if pool.get("scaleSetPriority") == "Spot":
        azure |= {"priority": "spot", "scalesetpriority": "spot"}
    if cluster["networkProfile"].get("networkPluginMode") == "overlay":
        azure |= _overlay(cluster_id, cluster, pool)
    own = {}
    if machine.gpu_model.startswith("nvidia-"):
        azure["accelerator"] = own["accelerator"] = "nvidia"
    name = node_name(cluster_id, pool["name"], index)
    return {
        **pool.get("nodeLabels", {}),
        **own,
        **{f"kubernetes.azure.com/{key}": value for key, value in azure.items()},
        "agentpool": pool["name"],
        "beta.kubernetes.io/arch": machine.architecture,
        "beta.kubernetes.io/instance-type": size,
        "beta.kubernetes.io/os": "linux",
        "failure-domain.beta.kubernetes.io/region": region,
        "failure-domain.beta.kubernetes.io/zone": zone,
        "kubernetes.io/arch": machine.architecture,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": size,
        "storageprofile": profile,
        "storagetier": tier,
        "topology.disk.csi.azure.com/zone": disk_zone,
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": zone,
    }


def _overlay(cluster_id: str, cluster: Body, pool: Body) -> dict[str, str]:
    subnet = pool.get("vnetSubnetID")
    # Without a subnet of its own a cluster gets a network in its node group.
    network = ids.last(ids.parent(subnet)) if subnet else f"aks-vnet-{scale_set_digits(cluster_id)}"
    return {
        "azure-cni-overlay": "true",
        "network-name": network,
        "network-resourcegroup": ids.group_name(subnet) if subnet else cluster["nodeResourceGroup"],
        "network-stateless-cni": "false",
        "network-subnet": ids.last(subnet) if subnet else "aks-subnet",
        "network-subscription": cluster_id.split("/")[2],
        "nodenetwork-vnetguid": ids.guid("network", ids.key(ids.parent(subnet)) if subnet else ids.key(cluster_id)),
        "podnetwork-type": "overlay",
    }


def _taints(pool: Body) -> list[dict[str, str]]:
    result = []
    for text in pool.get("nodeTaints", []):
        pair, effect = text.rsplit(":", 1)
        key, value = pair.split("=", 1)
        result.append({"key": key, "value": value, "effect": effect})
    return result


def template(cluster_id: str, cluster: Body, pool: Body, machine: Machine) -> dict[str, Any]:
    """The node that the autoscaler expects when it adds one to an empty pool: of the machine's nominal size, all of it for pods.

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
    """The Node object of one instance of a pool's scale set, as it registers: a device plugin is yet to report its GPUs."""
    capacity, allocatable = _resources(pool, machine)
    scale_set = scale_set_name(cluster_id, pool["name"])
    spec: dict[str, Any] = {
        "providerID": f"azure:///subscriptions/{cluster_id.split('/')[2]}"
        f"/resourceGroups/{cluster['nodeResourceGroup'].lower()}"
        f"/providers/Microsoft.Compute/virtualMachineScaleSets/{scale_set}/virtualMachines/{index}"
    }
    if taints := _taints(pool):
        spec["taints"] = taints
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": node_name(cluster_id, pool["name"], index),
            "labels": labels(cluster_id, cluster, pool, machine, index),
        },
        "spec": spec,
        "status": {
            "capacity": capacity,
            "allocatable": allocatable,
            "conditions": [{"type": t, "status": "False", "reason": r, "message": m} for t, r, m in _CONDITIONS],
        },
    }
