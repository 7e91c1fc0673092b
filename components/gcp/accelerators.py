"""GPUs as GKE's node pools have them: names, drivers, partitions and sharing."""

from __future__ import annotations

from typing import Any

from config.clouds.gcp.machines import accelerator
from config.clouds.gcp.settings import GcpPool, options_of
from config.clouds.gcp.traits import partition_size
from config.placement.node_pools import NodePool

_STRATEGIES = {"time-slicing": "TIME_SHARING", "mps": "MPS"}


def guest(pool: NodePool) -> list[dict[str, Any]] | None:
    """The `guestAccelerators` of a pool's machines; None without GPUs. Those that a machine comes with are named as well."""
    if not pool.gpus:
        return None
    source = pool.source
    driver = (
        (options_of(source) or GcpPool()).driver_version.upper() if source.install_driver else "INSTALLATION_DISABLED"
    )
    found: dict[str, Any] = {
        "type": accelerator(pool.gpu_model),
        "count": pool.gpus,
        "gpuDriverInstallationConfig": {"gpuDriverVersion": driver},
    }
    # Both are done by GKE's device plugin (pages gpus-multi, timesharing-gpus, nvidia-mps-gpus); the rules let neither stand
    # beside another plugin.
    if source.mig:
        found["gpuPartitionSize"] = partition_size(pool.gpu_model, source.mig)
    if source.gpu_sharing:
        found["gpuSharingConfig"] = {
            "gpuSharingStrategy": _STRATEGIES[source.gpu_sharing.strategy],
            "maxSharedClientsPerGpu": source.gpu_sharing.replicas,
        }
    return [found]
