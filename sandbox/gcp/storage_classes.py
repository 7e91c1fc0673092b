"""The StorageClasses that GKE brings to a Standard cluster without the Filestore add-on.

As `kubectl get sc` shows them since 1.24; disk types from the page persistent-volumes/gce-pd-csi-driver. `standard` still names the
provisioner that was in Kubernetes itself, whose work the CSI driver does.
"""

from __future__ import annotations

from sandbox.kubernetes.client import Object
from sandbox.kubernetes.storage_classes import FIRST_CONSUMER, IMMEDIATE, storage_class

_DRIVER = "pd.csi.storage.gke.io"
_LABELS = {"k8s-app": "gcp-compute-persistent-disk-csi-driver"}

CLASSES: list[Object] = [
    storage_class("standard", "kubernetes.io/gce-pd", {"type": "pd-standard"}, IMMEDIATE),
    storage_class("standard-rwo", _DRIVER, {"type": "pd-balanced"}, FIRST_CONSUMER, default=True, labels=_LABELS),
    storage_class("premium-rwo", _DRIVER, {"type": "pd-ssd"}, FIRST_CONSUMER, labels=_LABELS),
]
