"""Settings of a GKE pool's nodes: machine, disk, identity, GPUs, reservation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi_gcp import container

from components import references
from components.gcp.gcp_live import LiveCluster, block, config
from config.clouds import registry
from config.clouds.gcp.gcp_pool import GcpNodes, GcpPool, nodes_of, options_of
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.gcp.gcp_tables import accelerator, local_ssds
from config.clouds.gcp.gcp_traits import NO_DEFAULT_PLUGIN, default_boot_disk, partition_size
from config.model.cluster import seconds
from config.model.pool import Capacity, Effect
from config.placement.node_pools import NodePool

SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
"""All scopes: IAM limits the nodes' rights
(docs.cloud.google.com/compute/docs/access/service-accounts)."""

_METADATA = "GKE_METADATA"
"""Pods cannot use the nodes' identity (page workload-identity)."""

EFFECTS = {
    Effect.NO_SCHEDULE: "NO_SCHEDULE",
    Effect.PREFER_NO_SCHEDULE: "PREFER_NO_SCHEDULE",
    Effect.NO_EXECUTE: "NO_EXECUTE",
}
"""Google's names of the effects of taints."""

_FOR_SYSTEM_PODS = 15
"""Seconds at the end of a spot node's notice that GKE keeps for system pods (page spot-vms)."""

_DISK_GB = 100
"""docs.cloud.google.com/kubernetes-engine/docs/reference/rest/v1/NodeConfig, diskSizeGb"""

_NOTICE = 30
"""Seconds of a spot node's notice by default (page spot-vms)."""

_STRATEGIES = {"time-slicing": "TIME_SHARING", "mps": "MPS"}

_KEY = "compute.googleapis.com/reservation-name"

_BLOCKS = "/reservationBlocks/"


def node_config(
    pool: NodePool,
    cloud: Gcp,
    account: str,
    tags: Mapping[str, str],
    live: LiveCluster,
    workload_identity: bool,
) -> container.NodePoolNodeConfigArgs:
    nodes, options = nodes_of(pool.source) or GcpNodes(), options_of(pool.source) or GcpPool()
    # GKE adds its own labels and refuses them in a request (page labels-taints-and-tolerations).
    by_itself = {key for key, _ in registry.cloud_of(cloud).spot_labels}
    labels = {key: value for key, value in pool.labels.items() if key not in by_itself}
    if pool.gpus and options.device_plugin == "nvidia":
        labels[NO_DEFAULT_PLUGIN] = "true"
    flex = pool.capacity == Capacity.FLEX_START
    key = cloud.encryption.boot_disk_key
    ssds = _local_ssds(nodes, pool.machine)
    return container.NodePoolNodeConfigArgs(
        machine_type=pool.machine,
        disk_size_gb=pool.source.os_disk.size_gb or _DISK_GB,
        disk_type=nodes.disk_type or default_boot_disk(pool.machine),
        boot_disk_kms_key=key.text if key else None,
        image_type=nodes.image_type,
        shielded_instance_config=container.NodePoolNodeConfigShieldedInstanceConfigArgs(
            enable_secure_boot=nodes.secure_boot,
            enable_integrity_monitoring=nodes.integrity_monitoring,
        ),
        service_account=account,
        oauth_scopes=list(SCOPES),
        resource_labels=dict(tags),
        workload_metadata_config=container.NodePoolNodeConfigWorkloadMetadataConfigArgs(
            mode=_METADATA
        )
        if workload_identity
        else None,
        spot=True if pool.spot and not pool.preemptible else None,
        preemptible=True if pool.preemptible else None,
        flex_start=True if flex else None,
        # A node runs seven days by default (page dws-flex-start-training).
        max_run_duration=f"{seconds(options.max_run_duration or '168h')}s" if flex else None,
        reservation_affinity=_affinity(pool, cloud, live),
        labels=dict(sorted(labels.items())),
        taints=[
            container.NodePoolNodeConfigTaintArgs(
                key=taint.key, value=taint.value, effect=EFFECTS[taint.effect]
            )
            for taint in pool.taints
        ],
        guest_accelerators=_guest_accelerators(pool),
        kubelet_config=_kubelet(pool, options, live),
        ephemeral_storage_local_ssd_config=container.NodePoolNodeConfigEphemeralStorageLocalSsdConfigArgs(
            local_ssd_count=ssds
        )
        if ssds and nodes.local_ssd and nodes.local_ssd.use == "ephemeral"
        else None,
        local_nvme_ssd_block_config=container.NodePoolNodeConfigLocalNvmeSsdBlockConfigArgs(
            local_ssd_count=ssds
        )
        if ssds and nodes.local_ssd and nodes.local_ssd.use == "block"
        else None,
    )


def _local_ssds(nodes: GcpNodes, machine: str) -> int | None:
    """Return the number of local SSDs to declare; None without the key."""
    if nodes.local_ssd is None:
        return None
    of_machine = local_ssds(machine)
    return nodes.local_ssd.count or (of_machine.fixed if of_machine else None)


def _affinity(
    pool: NodePool, cloud: Gcp, live: LiveCluster
) -> container.NodePoolNodeConfigReservationAffinityArgs | None:
    if pool.reservation:
        return reservation_affinity(pool.reservation, pool.name, cloud.project, live)
    if pool.capacity == Capacity.FLEX_START:
        # Flex-start takes no reserved machines (page dws-flex-start-training).
        return container.NodePoolNodeConfigReservationAffinityArgs(
            consume_reservation_type="NO_RESERVATION"
        )
    return None


def temporary_nodes(cloud: Gcp, account: pulumi.Input[str]) -> container.ClusterNodeConfigArgs:
    """Return the settings of GKE's initial pool, which is removed at once."""
    key = cloud.encryption.boot_disk_key
    return container.ClusterNodeConfigArgs(
        service_account=account,
        oauth_scopes=list(SCOPES),
        workload_metadata_config=container.ClusterNodeConfigWorkloadMetadataConfigArgs(
            mode=_METADATA
        ),
        shielded_instance_config=container.ClusterNodeConfigShieldedInstanceConfigArgs(
            enable_integrity_monitoring=True
        ),
        boot_disk_kms_key=references.output(key) if key else None,
    )


def _kubelet(
    pool: NodePool, options: GcpPool, live: LiveCluster
) -> container.NodePoolNodeConfigKubeletConfigArgs | None:
    """Return a spot node's notice; None for the default: older clusters refuse the setting."""
    if not pool.spot or pool.preemptible:
        return None
    kubelet = block(config(live.pools.get(pool.name, {})), "kubeletConfigs")
    now = int(kubelet.get("shutdownGracePeriodSeconds") or _NOTICE)
    grace = options.shutdown_grace_seconds or (None if now == _NOTICE else _NOTICE)
    if grace is None:
        return None
    return container.NodePoolNodeConfigKubeletConfigArgs(
        shutdown_grace_period_seconds=grace,
        shutdown_grace_period_critical_pods_seconds=_FOR_SYSTEM_PODS,
    )


def _guest_accelerators(
    pool: NodePool,
) -> list[container.NodePoolNodeConfigGuestAcceleratorArgs] | None:
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


def reservation_affinity(
    reservation: str, name: str, project: str, live: LiveCluster
) -> container.NodePoolNodeConfigReservationAffinityArgs:
    """Return the affinity to this reservation alone, for the pool of this name.

    A block needs its project, otherwise GKE answers 404 (GoogleCloudPlatform/cluster-toolkit pull
    request 5043). A live pool keeps its spelling of the same reservation, because a change would
    replace the pool.
    """
    block_alone = _BLOCKS in reservation and not reservation.startswith("projects/")
    value = _whole(reservation, project) if block_alone else reservation
    now = reservation_of_pool(live.pools.get(name, {}))
    if now and _whole(now, project) == _whole(reservation, project):
        value = now
    return container.NodePoolNodeConfigReservationAffinityArgs(
        consume_reservation_type="SPECIFIC_RESERVATION", key=_KEY, values=[value]
    )


def reservation_of_pool(pool: Mapping[str, Any]) -> str:
    """Return the reservation of a live pool; empty without one."""
    return ", ".join(block(config(pool), "reservationAffinities").get("values") or ())


def is_held(reservation: str, name: str, project: str, live: LiveCluster) -> bool:
    """Return whether another pool uses the reservation or a block of it."""

    def of(value: str) -> str:
        return _whole(value, project).partition(_BLOCKS)[0]

    return any(
        of(reservation_of_pool(pool)) == of(reservation)
        for other, pool in live.pools.items()
        if other != name and reservation_of_pool(pool)
    )


def _whole(value: str, project: str) -> str:
    return value if value.startswith("projects/") else f"projects/{project}/reservations/{value}"
