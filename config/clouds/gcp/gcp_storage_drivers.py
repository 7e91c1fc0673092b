"""The key `cloud.storageDrivers` of GKE."""

from __future__ import annotations

from config.model.fields import Model, optional


class GcpStorageDrivers(Model):
    """CSI drivers of volumes that GKE runs beside that of persistent disks.

    Sources: pages cloud-storage-fuse-csi-driver-setup, filestore-csi-driver, lustre-csi-driver-new-volume,
    parallelstore-csi-new-volume.
    """

    gcs_fuse: bool = optional(
        False, "Buckets as volumes (Cloud Storage FUSE); pods ask for it by an annotation."
    )
    filestore: bool = optional(
        False, "Volumes in Filestore, which several nodes can write; needs the Filestore API."
    )
    lustre: bool = optional(False, "Volumes in Managed Lustre; needs the Managed Lustre API.")
    parallelstore: bool = optional(False, "Volumes in Parallelstore; needs the Parallelstore API.")
