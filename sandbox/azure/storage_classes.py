"""The StorageClasses that AKS brings.

Names, provisioners and binding modes as `kubectl get sc` of clusters since 1.21 shows them; `skuname`, labels and the default class
as read from `managed-csi` and `default` of such clusters (pages azure-disk-csi, create-volume-azure-disk, azure-files-csi). The
pages say what disk or share the others give; under which key is [inferred].

Plain: a cluster over several zones has zone-redundant disks behind these names since 1.29 (page create-volume-azure-disk). Here a
disk always stays in its zone, which is the stricter of the two.
"""

from __future__ import annotations

from sandbox.kubernetes.client import Object
from sandbox.kubernetes.storage_classes import FIRST_CONSUMER, IMMEDIATE, storage_class

_DISK, _FILE = "disk.csi.azure.com", "file.csi.azure.com"
_LABELS = {"kubernetes.io/cluster-service": "true"}

CLASSES: list[Object] = [
    *(
        storage_class(name, _DISK, {"skuname": sku}, FIRST_CONSUMER, default=name == "default", labels=_LABELS)
        for name, sku in {
            "default": "StandardSSD_LRS",
            "managed": "StandardSSD_LRS",
            "managed-csi": "StandardSSD_LRS",
            "managed-premium": "Premium_LRS",
            "managed-csi-premium": "Premium_LRS",
        }.items()
    ),
    *(
        storage_class(name, _FILE, {"skuName": sku}, IMMEDIATE, labels=_LABELS)
        for name, sku in {
            "azurefile": "Standard_LRS",
            "azurefile-csi": "Standard_LRS",
            "azurefile-premium": "Premium_LRS",
            "azurefile-csi-premium": "Premium_LRS",
        }.items()
    ),
]
