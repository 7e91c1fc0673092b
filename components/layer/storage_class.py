"""A StorageClass of volumes that outlive a node, a zone and a claim."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi_kubernetes as k8s

from components.layer.part import Inside, Part, metadata


class StorageClass(Part):
    """The class. Kubernetes never changes its parameters or its policy; it deliberately is not the
    cluster's default.
    """

    def __init__(
        self, name: str, title: str, disks: tuple[str, Mapping[str, str]], inside: Inside
    ) -> None:
        """`title`: its name in the cluster; `disks`: the driver and its parameters."""
        super().__init__("kubeflow-spot:addons:StorageClass", name, inside)
        provisioner, parameters = disks
        k8s.storage.v1.StorageClass(
            name,
            metadata=metadata(title, self.instance),
            provisioner=provisioner,
            parameters=parameters,
            # A claim deleted by mistake leaves its volume (kubernetes.io, page persistent-volumes,
            # "Retain").
            reclaim_policy="Retain",
            # The volume is made in the zones of the first pod's node.
            volume_binding_mode="WaitForFirstConsumer",
            allow_volume_expansion=True,
            opts=self.child,
        )
        self.register_outputs({})
