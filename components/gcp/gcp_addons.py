"""The add-ons of a cluster: CSI drivers of volumes."""

from __future__ import annotations

from pulumi_gcp import container

from components.gcp.gcp_live import LiveCluster, block
from components.resources import wire
from config.clouds.gcp.gcp_storage_drivers import GcpStorageDrivers


def storage_drivers(
    spec: GcpStorageDrivers, live: LiveCluster
) -> container.ClusterAddonsConfigArgs | None:
    """Return the drivers that are on, or that the live cluster has on; None without any.

    The provider keeps the old value of an omitted driver (Optional and Computed in
    resource_container_cluster.go), so a driver is switched off by name (docs/adr/0016).
    """
    addons = block(live.answer, "addonsConfigs")

    def sent(wanted: bool, name: str) -> bool:
        return wanted or bool(block(addons, f"{name}CsiDriverConfigs").get("enabled"))

    args = container.ClusterAddonsConfigArgs()
    if sent(spec.gcs_fuse, "gcsFuse"):
        args.gcs_fuse_csi_driver_config = container.ClusterAddonsConfigGcsFuseCsiDriverConfigArgs(
            enabled=spec.gcs_fuse
        )
    if sent(spec.filestore, "gcpFilestore"):
        args.gcp_filestore_csi_driver_config = (
            container.ClusterAddonsConfigGcpFilestoreCsiDriverConfigArgs(enabled=spec.filestore)
        )
    if sent(spec.lustre, "lustre"):
        args.lustre_csi_driver_config = container.ClusterAddonsConfigLustreCsiDriverConfigArgs(
            enabled=spec.lustre
        )
    if sent(spec.parallelstore, "parallelstore"):
        args.parallelstore_csi_driver_config = (
            container.ClusterAddonsConfigParallelstoreCsiDriverConfigArgs(
                enabled=spec.parallelstore
            )
        )
    return args if wire(args) else None
