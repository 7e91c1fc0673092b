"""Rules of GKE on the GPUs of a pool."""

from sandbox.cloud import rules
from sandbox.gcp import gcp_catalogue
from sandbox.gcp.gcp_catalogue import gpu_offered
from sandbox.gcp.gcp_errors import GcpRefused, bad_request
from sandbox.gcp.resources.gcp_requests import PoolRequest

_MOST_CLIENTS = 48
_STRATEGIES = ("TIME_SHARING", "MPS")

_EIGHTY = ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "7g.80gb")
# Google's GKE autoscaler source, and mig.go of container-engine-accelerators (gpu_partition_size).
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
    # k8s-config-connector PR 1902, which has a retired GPU.
    for gpu in request.accelerators:
        for zone in request.zones:
            if not gpu_offered(gpu["type"], zone):
                return bad_request(f'Accelerator type "{gpu["type"]}" does not exist in zone {zone}.')
    return None


@rules.as_read
def one_model(request: PoolRequest) -> GcpRefused | None:
    # REST reference AcceleratorConfig; words UNCONFIRMED
    if len(request.accelerators) > 1:
        return bad_request("A node pool can have one accelerator type only.")
    return None


def attachable(request: PoolRequest) -> GcpRefused | None:
    # terraform-provider-google #8387 for the default machine type; for others the words are UNCONFIRMED.
    machine = request.machine
    for gpu in request.accelerators:
        if machine.gpu_model == gpu["type"] or gpu["type"] in machine.attachable:
            continue
        if "machineType" not in (request.wanted.get("nodeConfig") or {}):
            return bad_request(
                f"Cannot use default machine type ({machine.name}) with GPUs; choose a different machine type."
            )
        return bad_request(
            f'Accelerator type "{gpu["type"]}" cannot be used with machine type {machine.name}.'
        ).as_read()
    return None


@rules.as_read
def count(request: PoolRequest) -> GcpRefused | None:
    # docs.cloud.google.com GPU machine types: the counts of an N1 size, and the fixed count of other types. Words UNCONFIRMED.
    machine = request.machine
    for gpu in request.accelerators:
        counts = machine.attachable.get(gpu["type"], (machine.accelerators,))
        if gpu["count"] not in counts:
            listed = ", ".join(map(str, counts))
            return bad_request(
                f'Invalid accelerator count {gpu["count"]} for "{gpu["type"]}" with machine type {machine.name}; valid: {listed}.'
            )
    return None


@rules.as_read
def declared(request: PoolRequest) -> GcpRefused | None:
    # Page gpus: g2, a2 and a3 have a fixed GPU, and guest_accelerators are declared nevertheless. UNCONFIRMED: the effect of
    # leaving them out; refused here as the stricter reading.
    machine = request.machine
    if machine.gpu_model and not request.accelerators:
        return bad_request(f"Machine type {machine.name} requires accelerator {machine.gpu_model}.")
    return None


@rules.as_read
def sharing(request: PoolRequest) -> GcpRefused | None:
    # Page timesharing-gpus: at most 48 clients. Words UNCONFIRMED.
    for gpu in request.accelerators:
        shared = gpu.get("gpuSharingConfig")
        if not shared:
            continue
        if shared["gpuSharingStrategy"] not in _STRATEGIES:
            return bad_request(f'Invalid gpu_sharing_strategy "{shared["gpuSharingStrategy"]}".')
        if not 2 <= shared["maxSharedClientsPerGpu"] <= _MOST_CLIENTS:
            return bad_request(f"Max_shared_clients_per_gpu must be between 2 and {_MOST_CLIENTS}.")
    return None


@rules.as_read
def partition(request: PoolRequest) -> GcpRefused | None:
    # Words UNCONFIRMED
    for gpu in request.accelerators:
        size = gpu.get("gpuPartitionSize")
        if not size:
            continue
        if size not in _PARTITIONS.get(gpu["type"], ()):
            return bad_request(f'Invalid gpu_partition_size "{size}" for accelerator type "{gpu["type"]}".')
        late = gpu["type"] == "nvidia-rtx-pro-6000"
        if late and gcp_catalogue.number(request.cluster["masterVersion"]) < gcp_catalogue.number(_RTX_PARTITIONS_FROM):
            return bad_request(f"Gpu_partition_size of {gpu['type']} needs version {_RTX_PARTITIONS_FROM} or later.")
    return None


@rules.as_read
def driver(request: PoolRequest) -> GcpRefused | None:
    # Page gpus: LATEST is for Container-Optimized OS. Words UNCONFIRMED.
    for gpu in request.accelerators:
        version = (gpu.get("gpuDriverInstallationConfig") or {}).get("gpuDriverVersion")
        if version == "LATEST" and not request.config["imageType"].upper().startswith("COS"):
            return bad_request("Gpu_driver_version LATEST is available on Container-Optimized OS only.")
    return None
