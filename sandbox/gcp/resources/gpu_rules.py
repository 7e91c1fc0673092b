"""What GKE refuses about the GPUs of a pool."""

from __future__ import annotations

from sandbox.gcp import versions
from sandbox.gcp.errors import GcpRefused, bad_request
from sandbox.gcp.locations import offered
from sandbox.gcp.resources.pool_request import PoolRequest

_MOST_CLIENTS = 48
_STRATEGIES = ("TIME_SHARING", "MPS")

_EIGHTY = ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "7g.80gb")
# Google's GKE autoscaler source, and again mig.go of container-engine-accelerators (gpu_partition_size).
_PARTITIONS: dict[str, tuple[str, ...]] = {
    "nvidia-tesla-a100": ("1g.5gb", "2g.10gb", "3g.20gb", "7g.40gb"),
    "nvidia-a100-80gb": ("1g.10gb", "2g.20gb", "3g.40gb", "7g.80gb"),
    "nvidia-h100-80gb": _EIGHTY,
    "nvidia-h100-mega-80gb": _EIGHTY,
    "nvidia-h200-141gb": ("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "7g.141gb"),
    "nvidia-b200": ("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "7g.180gb"),
    "nvidia-gb200": ("1g.23gb", "1g.47gb", "2g.47gb", "3g.93gb", "7g.186gb"),
    "nvidia-rtx-pro-6000": ("1g.24gb", "2g.48gb", "4g.96gb"),
}
_RTX_PARTITIONS_FROM = "1.35.2-gke.1485000"


def in_zone(request: PoolRequest) -> GcpRefused | None:
    # k8s-config-connector PR 1902: of a retired one too
    for one in request.accelerators:
        for zone in request.zones:
            if not offered(one["type"], zone):
                return bad_request(f'Accelerator type "{one["type"]}" does not exist in zone {zone}.')
    return None


def one_model(request: PoolRequest) -> GcpRefused | None:
    # REST reference AcceleratorConfig; words UNCONFIRMED
    if len(request.accelerators) > 1:
        return bad_request("A node pool can have one accelerator type only.")
    return None


def attachable(request: PoolRequest) -> GcpRefused | None:
    # terraform-provider-google #8387 for the default machine; for others the words are UNCONFIRMED.
    machine = request.machine
    for one in request.accelerators:
        if machine.gpu_model == one["type"] or one["type"] in machine.attachable:
            continue
        if "machineType" not in (request.wanted.get("nodeConfig") or {}):
            return bad_request(
                f"Cannot use default machine type ({machine.name}) with GPUs; choose a different machine type."
            )
        return bad_request(f'Accelerator type "{one["type"]}" cannot be used with machine type {machine.name}.')
    return None


def count(request: PoolRequest) -> GcpRefused | None:
    # docs.cloud.google.com GPU machine types: which counts an N1 size takes, and what the others have. Words UNCONFIRMED.
    machine = request.machine
    for one in request.accelerators:
        counts = machine.attachable.get(one["type"], (machine.accelerators,))
        if one["count"] not in counts:
            listed = ", ".join(map(str, counts))
            return bad_request(
                f'Invalid accelerator count {one["count"]} for "{one["type"]}" with machine type {machine.name}; valid: {listed}.'
            )
    return None


def declared(request: PoolRequest) -> GcpRefused | None:
    # page gpus: g2, a2 and a3 fix the GPU, and guest_accelerators are still declared. What GKE does without them is
    # UNCONFIRMED: the stricter reading.
    machine = request.machine
    if machine.gpu_model and not request.accelerators:
        return bad_request(f"Machine type {machine.name} requires accelerator {machine.gpu_model}.")
    return None


def sharing(request: PoolRequest) -> GcpRefused | None:
    # Page timesharing-gpus: at most 48 clients. Words UNCONFIRMED.
    for one in request.accelerators:
        said = one.get("gpuSharingConfig")
        if not said:
            continue
        if said["gpuSharingStrategy"] not in _STRATEGIES:
            return bad_request(f'Invalid gpu_sharing_strategy "{said["gpuSharingStrategy"]}".')
        if not 2 <= said["maxSharedClientsPerGpu"] <= _MOST_CLIENTS:
            return bad_request(f"Max_shared_clients_per_gpu must be between 2 and {_MOST_CLIENTS}.")
    return None


def partition(request: PoolRequest) -> GcpRefused | None:
    # Words UNCONFIRMED
    for one in request.accelerators:
        size = one.get("gpuPartitionSize")
        if not size:
            continue
        if size not in _PARTITIONS.get(one["type"], ()):
            return bad_request(f'Invalid gpu_partition_size "{size}" for accelerator type "{one["type"]}".')
        late = one["type"] == "nvidia-rtx-pro-6000"
        if late and versions.number(request.cluster["masterVersion"]) < versions.number(_RTX_PARTITIONS_FROM):
            return bad_request(f"Gpu_partition_size of {one['type']} needs version {_RTX_PARTITIONS_FROM} or later.")
    return None


def driver(request: PoolRequest) -> GcpRefused | None:
    # page gpus: latest is for Container-Optimized OS. Words UNCONFIRMED.
    for one in request.accelerators:
        told = (one.get("gpuDriverInstallationConfig") or {}).get("gpuDriverVersion")
        if told == "LATEST" and not request.config["imageType"].upper().startswith("COS"):
            return bad_request("Gpu_driver_version LATEST is available on Container-Optimized OS only.")
    return None
