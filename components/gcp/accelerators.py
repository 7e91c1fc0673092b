"""GPUs as GKE's node pools have them: names, drivers, partitions and sharing."""

from __future__ import annotations

from typing import Any

from config.clouds.gcp.machines import accelerator
from config.clouds.gcp.pool import GcpPool, options_of
from config.clouds.gcp.traits import partition_size
from config.placement.node_pools import NodePool

_STRATEGIES = {"time-slicing": "TIME_SHARING", "mps": "MPS"}


def guest(pool: NodePool) -> list[dict[str, Any]] | None:
    """The `guestAccelerators` of a pool's machines; None without GPUs. GPUs that a machine comes with are named as well."""
    if not pool.gpus:
        return None
    driver = (
        (options_of(pool.source) or GcpPool()).driver_version.upper()
        if pool.install_driver
        else "INSTALLATION_DISABLED"
    )
    gpu: dict[str, Any] = {
        "type": accelerator(pool.gpu_model),
        "count": pool.gpus,
        "gpuDriverInstallationConfig": {"gpuDriverVersion": driver},
    }
    # GKE's device plugin does both (pages gpus-multi, timesharing-gpus, nvidia-mps-gpus); the rules allow neither with another
    # plugin.
    if pool.mig:
        gpu["gpuPartitionSize"] = partition_size(pool.gpu_model, pool.mig)
    if pool.gpu_sharing:
        gpu["gpuSharingConfig"] = {
            "gpuSharingStrategy": _STRATEGIES[pool.gpu_sharing.strategy],
            "maxSharedClientsPerGpu": pool.gpu_sharing.replicas,
        }
    return [gpu]
