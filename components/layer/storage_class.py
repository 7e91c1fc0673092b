"""A StorageClass for what must not go with a node, a zone or a claim: databases, and checkpoints on volumes."""

from __future__ import annotations

from collections.abc import Mapping

from components.layer import names
from components.layer.manifest import Manifest
from components.layer.part import Inside, Part


class StorageClass(Part):
    """The class. Nothing of it changes later: Kubernetes takes no other parameters or policy for an existing one."""

    def __init__(self, name: str, title: str, disks: tuple[str, Mapping[str, str]], inside: Inside) -> None:
        """`title` is its name in the cluster; `disks` are the driver and its parameters."""
        super().__init__("kubeflow-spot:addons:StorageClass", name, inside)
        provisioner, parameters = disks
        Manifest(
            name,
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "StorageClass",
                "metadata": {"name": title, "labels": names.labels(self.instance)},
                "provisioner": provisioner,
                "parameters": dict(parameters),
                # A claim that is deleted by mistake leaves its volume (kubernetes.io, page persistent-volumes, "Retain").
                "reclaimPolicy": "Retain",
                # In the zones of the first pod's node, not in one that has no node.
                "volumeBindingMode": "WaitForFirstConsumer",
                "allowVolumeExpansion": True,
            },
            self.child,
        )
        self.register_outputs({})
