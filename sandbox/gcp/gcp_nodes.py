"""The Node objects of a pool, as GKE's nodes register themselves: pure functions of the bodies.

The kubelet's conditions are left to whatever simulates it,
and a pool's new version reaches new nodes, not existing ones.
"""

from collections import ChainMap
from typing import Any

from sandbox.cloud import node_groups
from sandbox.cloud.facts import filled, tables
from sandbox.cloud.node_groups import Gpus
from sandbox.cloud.state import Body, Record
from sandbox.gcp import gcp_ids
from sandbox.gcp.gcp_catalogue import Machine

GPU = "nvidia.com/gpu"

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

PARTITIONS = {size: int(slices) for slices, sizes in tables("gcp")["partitions"].items() for size in sizes}
"""The slices that a partition size makes of one GPU."""

_SHARING = {"TIME_SHARING": "time-sharing", "MPS": "mps"}
_DRIVERS = {"DEFAULT": "default", "LATEST": "latest"}
_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}
_SUFFIXES = 36**4


def group_name(pool_id: str, zone: str) -> str:
    """Return the instance group of a pool in one zone, as its machines' names begin.

    Each has eight hexadecimal digits of its own. Long names of cluster and pool are cut to 32 together, the cluster's to 16
    (seen on one node: a cluster of 7 and a pool cut to 25) [inferred].
    """
    cluster = gcp_ids.last(gcp_ids.parent(pool_id))[:16]
    return f"gke-{cluster}-{gcp_ids.last(pool_id)[: 32 - len(cluster)]}-{gcp_ids.hexadecimal(8, pool_id, zone)}"


def node_name(pool_id: str, zone: str, number: int) -> str:
    """Return the name of one machine of a group, the same whenever it is asked for; no two numbers of a group share one."""
    base = group_name(pool_id, zone)
    offset = int(gcp_ids.hexadecimal(8, base), 16)
    # A factor without 2 and 3 in it reaches every one of the 36^4 suffixes once.
    value = (number * 1_000_003 + offset) % _SUFFIXES
    return f"{base}-{node_groups.base36(value, 4)[::-1]}"


def gpus(pool: Body) -> Gpus | None:
    """Return the NVIDIA GPUs of a pool's machines; None without any."""
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
    # Page gpus: without this setting the default driver is installed, from 1.30.1-gke.1156000 on.
    version = (accelerator.get("gpuDriverInstallationConfig") or {}).get("gpuDriverVersion")
    return str(version) if version and version != "GPU_DRIVER_VERSION_UNSPECIFIED" else "DEFAULT"


def _sharing(accelerator: Body) -> Body:
    sharing: Body = accelerator.get("gpuSharingConfig") or {}
    return sharing


def _shares(amount: float, steps: tuple[tuple[int | None, float], ...]) -> float:
    total, left = 0.0, amount
    for width, share in steps:
        step = left if width is None else min(left, width)
        total += step * share
        left -= step
    return total


def reserved_cpu(cores: int) -> int:
    """Return the millicores that GKE keeps for itself."""
    return round(_shares(cores, _CPU_STEPS) * 1000)


def reserved_memory(capacity: int) -> int:
    """Return the bytes kept of a machine's visible memory, 100 MiB for eviction among them."""
    shares = 255 if capacity < _GI else int(_shares(capacity / _GI, _MEMORY_STEPS) * 1024)
    return (shares + 100) * _MI


def allocatable_disk(capacity: int, disk_gb: int) -> int:
    """Return the bytes for pods of a boot disk whose file system has this capacity (page plan-node-sizes)."""
    kept = min(disk_gb // 2 * _GI, 6 * _GI + disk_gb * _GI * 35 // 100, 100 * _GI)
    return capacity - int(capacity * _EVICTION_SHARE) - kept


def _resources(pool: Body, machine: Machine) -> dict[str, dict[str, str]]:
    memory = int(machine.memory_gib * _MI * _VISIBLE_MEMORY)
    disk_gb = int(pool["nodeConfig"].get("diskSizeGb") or 100)
    disk = int(disk_gb * _MI * _VISIBLE_DISK)
    return node_groups.resources(
        machine.vcpus,
        memory,
        disk,
        _max_pods(pool),
        kept_cpu=reserved_cpu(machine.vcpus),
        kept_memory_ki=reserved_memory(memory * _KI) // _KI,
        free_disk=allocatable_disk(disk * _KI, disk_gb),
    )


def _max_pods(pool: Body) -> int:
    return int(pool.get("maxPodsPerNode") or _MAX_PODS)


def labels(pool_id: str, pool: Body, machine: Machine, zone: str, name: str) -> dict[str, str]:
    """Return the labels of a node: the pool's own, and GKE's by the templates of `data/facts.toml`."""
    config = pool["nodeConfig"]
    spot, preemptible, flex = (bool(config.get(way)) for way in ("spot", "preemptible", "flexStart"))
    disk = config.get("diskType") or machine.boot_disks[0]
    gpu: Body = next((entry for entry in config.get("guestAccelerators") or [] if int(entry["count"])), {})
    driver, strategy = _DRIVERS.get(_driver(gpu)), _SHARING.get(_sharing(gpu).get("gpuSharingStrategy") or "")
    words = {
        "machine": machine,
        "zone": zone,
        "disk": disk,
        "logging": config.get("loggingVariant") or "DEFAULT",
        "max_pods": _max_pods(pool),
        "memory_gib": int(machine.memory_gib),
        "pool": gcp_ids.last(pool_id),
        "os": "ubuntu" if str(config.get("imageType")).upper().startswith("UBUNTU") else "cos",
        "provisioning": "spot" if spot else "preemptible" if preemptible else "flex-start" if flex else "standard",
        "private": str(bool((pool.get("networkConfig") or {}).get("enablePrivateNodes"))).lower(),
        "gpu": gpu,
        "driver": driver,
        "sharing": strategy,
        "clients": _sharing(gpu).get("maxSharedClientsPerGpu"),
    }
    applies = {
        "every": True,
        "spot": spot,
        "preemptible": preemptible,
        "flex_start": flex,
        "gpu": gpu,
        "driver": gpu and driver,
        "partition": gpu.get("gpuPartitionSize"),
        "sharing": strategy,
        "workload_identity": (config.get("workloadMetadataConfig") or {}).get("mode") == "GKE_METADATA",
    }
    gke = [filled(template, words) for group, template in tables("gcp")["labels"].items() if applies[group]]
    known = node_groups.well_known_labels(name, machine.name, machine.architecture, gcp_ids.region(zone), zone)
    return {**(config.get("labels") or {}), **dict(ChainMap(*gke)), f"disk-type.gke.io/{disk}": "true", **known}


def _taints(config: Body) -> list[dict[str, str]]:
    """Return the user's taints and those that GKE put on the pool; spot adds none (page spot-vms)."""
    return [
        {"key": taint["key"], "value": taint.get("value") or "", "effect": _EFFECTS[taint["effect"]]}
        for taint in config.get("effectiveTaints") or config.get("taints") or []
    ]


def template(pool: Record, machine: Machine, zone: str) -> dict[str, Any]:
    """Return the node that the autoscaler expects when it adds one to a pool: its GPUs known from the pool, shared ones too."""
    expected = node(pool, machine, zone, 0)
    if shares := gpus(pool.body):
        for resources in (expected["status"]["capacity"], expected["status"]["allocatable"]):
            resources[GPU] = str(shares.shown)
    return expected


def node(pool: Record, machine: Machine, zone: str, number: int) -> dict[str, Any]:
    """Return the Node object of one machine, as it registers: a device plugin is yet to report its GPUs."""
    name = node_name(pool.id, zone, number)
    status: dict[str, Any] = _resources(pool.body, machine)
    if version := pool.body.get("version"):
        status["nodeInfo"] = {"kubeletVersion": f"v{version}"}
    own = labels(pool.id, pool.body, machine, zone, name)
    machine_id = f"gce://{gcp_ids.project_of(pool.id)}/{zone}/{name}"
    return node_groups.node(name, own, machine_id, _taints(pool.body["nodeConfig"]), status)
