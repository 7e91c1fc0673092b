"""The key `cloud.storageDrivers` of AKS."""

from __future__ import annotations

from config.model.fields import Model, optional


class AzureStorageDrivers(Model):
    """CSI drivers of volumes that AKS runs (page csi-storage-drivers).

    The driver of Azure disks is missing: it is always on, Kubeflow's volumes need it.
    """

    blob: bool = optional(
        False, "Volumes in Azure Blob storage, by BlobFuse or NFS (page azure-blob-csi)."
    )
    file: bool = optional(
        True, "Volumes in Azure Files, which several nodes can write (page azure-files-csi)."
    )
    snapshots: bool = optional(True, "VolumeSnapshots: the snapshot controller and its CRDs.")
