"""GPUs as GKE's node pools have them: names, drivers, partitions and sharing."""

from __future__ import annotations

from pulumi_gcp import container

from config.clouds.gcp.gcp_pool import GcpPool, options_of
from config.clouds.gcp.gcp_tables import accelerator
from config.clouds.gcp.gcp_traits import partition_size
from config.placement.node_pools import NodePool

_STRATEGIES = {"time-slicing": "TIME_SHARING", "mps": "MPS"}


def guest(pool: NodePool) -> list[container.NodePoolNodeConfigGuestAcceleratorArgs] | None:
    """Return the GPUs of a pool's machines, built-in ones included; None without GPUs."""
    if not pool.gpus:
        return None
    driver = (
        (options_of(pool.source) or GcpPool()).driver_version.upper()
        if pool.install_driver
        else "INSTALLATION_DISABLED"
    )
    gpu = container.NodePoolNodeConfigGuestAcceleratorArgs(
        type=accelerator(pool.gpu_model),
        count=pool.gpus,
        gpu_driver_installation_config=container.NodePoolNodeConfigGuestAcceleratorGpuDriverInstallationConfigArgs(
            gpu_driver_version=driver
        ),
        # GKE's device plugin partitions and shares (pages gpus-multi, timesharing-gpus,
        # nvidia-mps-gpus); the rules allow neither with another plugin.
        gpu_partition_size=partition_size(pool.gpu_model, pool.mig) if pool.mig else None,
    )
    if pool.gpu_sharing:
        gpu.gpu_sharing_config = container.NodePoolNodeConfigGuestAcceleratorGpuSharingConfigArgs(
            gpu_sharing_strategy=_STRATEGIES[pool.gpu_sharing.strategy],
            max_shared_clients_per_gpu=pool.gpu_sharing.replicas,
        )
    return [gpu]
