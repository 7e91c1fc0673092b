"""A part of the layer: a component whose children are objects inside the cluster."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s

from components.layer import names


@dataclass(frozen=True)
class Inside:
    """What the parts of the layer know of the cluster."""

    instance: str
    """The stack's name in labels and names of objects."""
    part: pulumi.ResourceOptions
    """Options of each part."""
    child: pulumi.ResourceOptions
    """Options of each object: the cluster's provider, and the new cluster that objects follow."""


class Part(pulumi.ComponentResource):
    """The base of all parts. Their types say `addons`, the layer's former name, because every
    state's URNs contain it.
    """

    def __init__(self, type: str, name: str, inside: Inside) -> None:
        super().__init__(type, name, None, inside.part)
        self.instance = inside.instance
        self.child = pulumi.ResourceOptions.merge(inside.child, pulumi.ResourceOptions(parent=self))

    def after(self, *others: pulumi.Resource) -> pulumi.ResourceOptions:
        """Return the options of an object that comes after others."""
        return pulumi.ResourceOptions.merge(
            self.child, pulumi.ResourceOptions(depends_on=list(others))
        )


def metadata(name: str, instance: str, namespace: str | None = None) -> k8s.meta.v1.ObjectMetaArgs:
    """Return the metadata of a stack's object; no namespace for one of the whole cluster."""
    return k8s.meta.v1.ObjectMetaArgs(name=name, namespace=namespace, labels=names.labels(instance))
