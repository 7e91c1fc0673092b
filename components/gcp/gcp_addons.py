"""The add-ons of a cluster: CSI drivers of volumes."""

from __future__ import annotations

from collections.abc import Collection

from pulumi_gcp import container

from components.resources import wire
from config.clouds.gcp.gcp_storage_drivers import GcpStorageDrivers
from config.model.fields import given


def storage_drivers(
    spec: GcpStorageDrivers, reset: Collection[str]
) -> container.ClusterAddonsConfigArgs | None:
    """Return the drivers that the file sets, or that the last update set (`reset`); None without
    any.

    The provider keeps the old value of an omitted driver (Optional and Computed in
    resource_container_cluster.go), so a driver is switched off by name (docs/adr/0016).
    """

    def sent(field: str) -> bool:
        alias = GcpStorageDrivers.model_fields[field].alias
        return bool(given(spec, field)) or f"storageDrivers.{alias}" in reset

    args = container.ClusterAddonsConfigArgs()
    if sent("gcs_fuse"):
        args.gcs_fuse_csi_driver_config = container.ClusterAddonsConfigGcsFuseCsiDriverConfigArgs(
            enabled=spec.gcs_fuse
        )
    if sent("filestore"):
        args.gcp_filestore_csi_driver_config = (
            container.ClusterAddonsConfigGcpFilestoreCsiDriverConfigArgs(enabled=spec.filestore)
        )
    if sent("lustre"):
        args.lustre_csi_driver_config = container.ClusterAddonsConfigLustreCsiDriverConfigArgs(
            enabled=spec.lustre
        )
    if sent("parallelstore"):
        args.parallelstore_csi_driver_config = (
            container.ClusterAddonsConfigParallelstoreCsiDriverConfigArgs(
                enabled=spec.parallelstore
            )
        )
    return args if wire(args) else None
