"""The Node objects of a pool, as GKE's nodes register themselves: pure functions of the bodies.

Names and labels follow one spot node of v1.36.3-gke.1767000 (2026-10-08) and the node of a pool with a long name; GPU labels
are those of Google's pages on GPUs. No GPU node was read in full. The kubelet's conditions are left to whatever simulates it,
and a pool's new version reaches the nodes that come after it, not those that are there.
"""

from __future__ import annotations

from typing import Any

from sandbox.cloud.node_groups import Gpus
from sandbox.cloud.state import Body, Record
from sandbox.gcp import ids
from sandbox.gcp.machines import Machine

GPU = "nvidia.com/gpu"

_GKE = "cloud.google.com"
_KI, _MI, _GI = 1 << 10, 1 << 20, 1 << 30

# One real machine of nominal 16 GiB shows 16380004Ki, one disk of 100 GB 98831908Ki; others are scaled from them [inferred].
_VISIBLE_MEMORY = 16380004 / (16 * _MI)
_VISIBLE_DISK = 98831908 / (100 * _MI)

# Page plan-node-sizes: shares of what Kubernetes' own processes get, of cores and of GiB, one step after the other.
_CPU_STEPS = ((1, 0.06), (1, 0.01), (2, 0.005), (None, 0.0025))
_MEMORY_STEPS = ((4, 0.25), (4, 0.20), (8, 0.10), (112, 0.06), (None, 0.02))
# The kubelet keeps its share as a float32, seen in the last digits of a real node's allocatable.
_EVICTION_SHARE = 0.10000000149011612

_MAX_PODS = 110
_ARM = ("t2a", "c4a", "n4a", "a4x")

# Google's GKE autoscaler source: the slices that a partition size makes of one GPU. A size is of one GPU model or means
# the same in all that have it.
_SLICES = {
    7: "1g.5gb 1g.10gb 1g.18gb 1g.23gb",
    4: "1g.20gb 1g.35gb 1g.45gb 1g.47gb 1g.24gb",
    3: "2g.10gb 2g.20gb 2g.35gb 2g.45gb 2g.47gb",
    2: "3g.20gb 3g.40gb 3g.71gb 3g.90gb 3g.93gb 2g.48gb",
    1: "7g.40gb 7g.80gb 7g.141gb 7g.180gb 7g.186gb 4g.96gb",
}
PARTITIONS = {size: slices for slices, sizes in _SLICES.items() for size in sizes.split()}

_SHARING = {"TIME_SHARING": "time-sharing", "MPS": "mps"}
_DRIVERS = {"DEFAULT": "default", "LATEST": "latest"}
_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}
_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
_SUFFIXES = 36**4


def group_name(pool_id: str, zone: str) -> str:
    """The instance group of a pool in one zone, as its machines' names begin.

    Each has eight hexadecimal digits of its own. Long names of cluster and pool are cut to 32 together, the cluster's to 16
    (seen on one node: a cluster of 7 and a pool cut to 25) [inferred].
    """
    cluster = ids.last(ids.parent(pool_id))[:16]
    return f"gke-{cluster}-{ids.last(pool_id)[: 32 - len(cluster)]}-{ids.hexadecimal(8, pool_id, zone)}"


def node_name(pool_id: str, zone: str, number: int) -> str:
    """The name of one machine of a group, the same whenever it is asked for; no two numbers of a group share one."""
    base = group_name(pool_id, zone)
    offset = int(ids.hexadecimal(8, base), 16)
    # A factor without 2 and 3 in it reaches every one of the 36^4 suffixes once.
    value = (number * 1_000_003 + offset) % _SUFFIXES
    suffix = ""
    for _ in range(4):
        value, digit = divmod(value, 36)
        suffix += _BASE36[digit]
    return f"{base}-{suffix}"


def gpus(pool: Body) -> Gpus | None:
    """The NVIDIA GPUs of a pool's machines; None without any."""
    for accelerator in pool["nodeConfig"].get("guestAccelerators") or []:
        if accelerator["type"].startswith("nvidia-") and int(accelerator["count"]):
            size = accelerator.get("gpuPartitionSize") or ""
            return Gpus(
                int(accelerator["count"]),
                profile=size,
                instances=PARTITIONS.get(size, 1),
                driver=_driver(accelerator) != "INSTALLATION_DISABLED",
                clients=int(_sharing(accelerator).get("maxSharedClientsPerGpu") or 1),
            )
    return None


def _driver(accelerator: Body) -> str:
    # Page gpus: where nothing is said the default driver is installed, from 1.30.1-gke.1156000 on.
    told = (accelerator.get("gpuDriverInstallationConfig") or {}).get("gpuDriverVersion")
    return str(told) if told and told != "GPU_DRIVER_VERSION_UNSPECIFIED" else "DEFAULT"


def _sharing(accelerator: Body) -> Body:
    found: Body = accelerator.get("gpuSharingConfig") or {}
    return found


def _shares(amount: float, steps: tuple[tuple[int | None, float], ...]) -> float:
    total, left = 0.0, amount
    for width, share in steps:
        step = left if width is None else min(left, width)
        total += step * share
        left -= step
    return total


def reserved_cpu(cores: int) -> int:
    """Millicores that GKE keeps for itself."""
    return round(_shares(cores, _CPU_STEPS) * 1000)


def reserved_memory(capacity: int) -> int:
    """Bytes kept of a machine's visible memory, 100 MiB for eviction among them."""
    shares = 255 if capacity < _GI else int(_shares(capacity / _GI, _MEMORY_STEPS) * 1024)
    return (shares + 100) * _MI


def allocatable_disk(capacity: int, disk_gb: int) -> int:
    """Bytes for pods of a boot disk whose file system has this capacity (page plan-node-sizes)."""
    kept = min(disk_gb // 2 * _GI, 6 * _GI + disk_gb * _GI * 35 // 100, 100 * _GI)
    return capacity - int(capacity * _EVICTION_SHARE) - kept


def _resources(pool: Body, machine: Machine) -> tuple[dict[str, str], dict[str, str]]:
    memory = int(machine.memory_gib * _MI * _VISIBLE_MEMORY)
    disk_gb = int(pool["nodeConfig"].get("diskSizeGb") or 100)
    disk = int(disk_gb * _MI * _VISIBLE_DISK)
    shared = {"pods": str(_max_pods(pool)), "hugepages-1Gi": "0", "hugepages-2Mi": "0"}
    capacity = {"cpu": str(machine.vcpus), "memory": f"{memory}Ki", "ephemeral-storage": f"{disk}Ki", **shared}
    allocatable = {
        "cpu": f"{machine.vcpus * 1000 - reserved_cpu(machine.vcpus)}m",
        "memory": f"{memory - reserved_memory(memory * _KI) // _KI}Ki",
        "ephemeral-storage": str(allocatable_disk(disk * _KI, disk_gb)),
        **shared,
    }
    return capacity, allocatable


def _max_pods(pool: Body) -> int:
    return int(pool.get("maxPodsPerNode") or _MAX_PODS)


def labels(pool_id: str, pool: Body, machine: Machine, zone: str, name: str) -> dict[str, str]:
    """The labels of a node: the pool's own, and GKE's, which nobody else can set.

    Of `disk-type.gke.io` it has the boot disk's type alone; a real node has every type its machine takes.
    """
    config = pool["nodeConfig"]
    arch = "arm64" if machine.family in _ARM else "amd64"
    region = ids.region(zone)
    spot, preemptible = bool(config.get("spot")), bool(config.get("preemptible"))
    disk = config.get("diskType") or machine.boot_disks[0]
    private = (pool.get("networkConfig") or {}).get("enablePrivateNodes")
    gke = {
        "gke-boot-disk": disk,
        "gke-container-runtime": "containerd",
        "gke-cpu-scaling-level": str(machine.vcpus),
        "gke-logging-variant": config.get("loggingVariant") or "DEFAULT",
        "gke-max-pods-per-node": str(_max_pods(pool)),
        "gke-memory-gb-scaling-level": str(int(machine.memory_gib)),
        "gke-netd-ready": "true",
        "gke-nodepool": ids.last(pool_id),
        "gke-os-distribution": "ubuntu" if str(config.get("imageType")).upper().startswith("UBUNTU") else "cos",
        "gke-provisioning": "spot" if spot else "preemptible" if preemptible else "standard",
        "gke-stack-type": "IPV4",
        "machine-family": machine.family,
        "private-node": "true" if private else "false",
    }
    if spot:
        gke["gke-spot"] = "true"
    if preemptible:
        gke["gke-preemptible"] = "true"
    found = {
        **(config.get("labels") or {}),
        **{f"{_GKE}/{key}": value for key, value in (gke | _gpu_labels(config)).items()},
        "beta.kubernetes.io/arch": arch,
        "beta.kubernetes.io/instance-type": machine.name,
        "beta.kubernetes.io/os": "linux",
        f"disk-type.gke.io/{disk}": "true",
        "failure-domain.beta.kubernetes.io/region": region,
        "failure-domain.beta.kubernetes.io/zone": zone,
        "kubernetes.io/arch": arch,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": machine.name,
        "topology.gke.io/zone": zone,
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": zone,
    }
    if (config.get("workloadMetadataConfig") or {}).get("mode") == "GKE_METADATA":
        found["iam.gke.io/gke-metadata-server-enabled"] = "true"
    return found


def _gpu_labels(config: Body) -> dict[str, str]:
    found: dict[str, str] = {}
    for accelerator in config.get("guestAccelerators") or []:
        if not int(accelerator["count"]):
            continue
        found |= {
            "gke-gpu": "true",
            "gke-accelerator": accelerator["type"],
            "gke-accelerator-count": str(accelerator["count"]),
        }
        # Absent where Google installs none: its own driver installer for such nodes looks for that.
        if driver := _DRIVERS.get(_driver(accelerator)):
            found["gke-gpu-driver-version"] = driver
        if size := accelerator.get("gpuPartitionSize"):
            found["gke-gpu-partition-size"] = size
        sharing = _sharing(accelerator)
        if strategy := _SHARING.get(sharing.get("gpuSharingStrategy") or ""):
            found["gke-gpu-sharing-strategy"] = strategy
            found["gke-max-shared-clients-per-gpu"] = str(sharing.get("maxSharedClientsPerGpu"))
    return found


def _taints(config: Body) -> list[dict[str, str]]:
    """The user's and those that GKE put on the pool; spot adds none (page spot-vms)."""
    return [
        {"key": one["key"], "value": one.get("value") or "", "effect": _EFFECTS[one["effect"]]}
        for one in config.get("effectiveTaints") or config.get("taints") or []
    ]


def template(pool: Record, machine: Machine, zone: str) -> dict[str, Any]:
    """The node that the autoscaler expects when it adds one to a pool: its GPUs known from the pool, shared ones too."""
    expected = node(pool, machine, zone, 0)
    if found := gpus(pool.body):
        for resources in (expected["status"]["capacity"], expected["status"]["allocatable"]):
            resources[GPU] = str(found.count * found.instances * found.clients)
    return expected


def node(pool: Record, machine: Machine, zone: str, number: int) -> dict[str, Any]:
    """The Node object of one machine, as it registers: a device plugin is yet to report its GPUs."""
    name = node_name(pool.id, zone, number)
    capacity, allocatable = _resources(pool.body, machine)
    spec: dict[str, Any] = {"providerID": f"gce://{ids.project_of(pool.id)}/{zone}/{name}"}
    if taints := _taints(pool.body["nodeConfig"]):
        spec["taints"] = taints
    status: dict[str, Any] = {"capacity": capacity, "allocatable": allocatable}
    if version := pool.body.get("version"):
        status["nodeInfo"] = {"kubeletVersion": f"v{version}"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels(pool.id, pool.body, machine, zone, name)},
        "spec": spec,
        "status": status,
    }
