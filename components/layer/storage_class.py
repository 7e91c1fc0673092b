"""A StorageClass for what must not go with a node, a zone or a claim: databases, and checkpoints on volumes."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi_kubernetes as k8s

from components.layer.part import Inside, Part, metadata


class StorageClass(Part):
    """The class. Nothing of it changes later: Kubernetes takes no other parameters or policy for an existing one."""

    def __init__(
        self, name: str, title: str, disks: tuple[str, Mapping[str, str]], inside: Inside
    ) -> None:
        """`title` is its name in the cluster; `disks` are the driver and its parameters."""
        super().__init__("kubeflow-spot:addons:StorageClass", name, inside)
        provisioner, parameters = disks
        k8s.storage.v1.StorageClass(
            name,
            metadata=metadata(title, self.instance),
            provisioner=provisioner,
            parameters=parameters,
            # A claim that is deleted by mistake leaves its volume (kubernetes.io, page persistent-volumes, "Retain").
            reclaim_policy="Retain",
            # In the zones of the first pod's node, not in one that has no node.
            volume_binding_mode="WaitForFirstConsumer",
            allow_volume_expansion=True,
            opts=self.child,
        )
        self.register_outputs({})
