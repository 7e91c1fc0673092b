"""The settings of an AKS cluster's network."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from config.clouds.azure.azure_forms import NetworkReference, ResourceGroupReference
from config.model.fields import Cidr, Model, optional

NODE_SUBNET = "nodes"
"""The name of `nodeSubnet`: the subnet of pools that name none, in a network made here."""


class AzureExistingNetwork(Model):
    """An existing virtual network; pools name its subnets."""

    resource_group: ResourceGroupReference = Field(
        description="The network's resource group.", examples=["corp-network"]
    )
    name: NetworkReference = Field(description="The network's name.", examples=["corp-vnet"])
    subnet: NetworkReference = Field(
        description="The subnet of nodes whose pool names no subnet.", examples=["aks-nodes"]
    )


class AzureNetwork(Model):
    """The virtual network of the nodes, and the ranges inside the cluster; immutable."""

    @classmethod
    def meant_by(cls, text: str) -> dict[str, Any] | None:
        """Read the name of what enforces NetworkPolicy objects."""
        return {"policy": text} if text in ("azure", "calico", "cilium") else None

    existing: AzureExistingNetwork | None = optional(
        None, "An existing virtual network to use. Default: the stack makes one."
    )
    address_space: Cidr = optional(
        "10.8.0.0/16", "Addresses of the network that the stack makes.", "10.8.0.0/16"
    )
    node_subnet: Cidr = optional(
        "10.8.0.0/20",
        "The subnet `nodes`, of pools that name no subnet: one address a node.",
        "10.8.0.0/20",
    )
    subnets: dict[
        Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9][-_.A-Za-z0-9]{0,79}$")], Cidr
    ] = optional({}, "Further subnets, by name, for pools that name one.", {"gpu": "10.8.16.0/20"})
    pod_cidr: Cidr = optional(
        "10.244.0.0/16",
        "Addresses of pods, in an overlay network: a /24 for each node.",
        "10.244.0.0/16",
    )
    service_cidr: Cidr = optional(
        "10.0.0.0/16", "Addresses of Services inside the cluster.", "10.0.0.0/16"
    )
    outbound_type: Literal["loadBalancer", "userAssignedNATGateway", "userDefinedRouting"] = (
        optional(
            "loadBalancer",
            "How pods reach the internet: `userAssignedNATGateway` is made by the stack, "
            "`userDefinedRouting` needs an existing network's route table (page "
            "egress-outboundtype).",
        )
    )
    dataplane: Literal["azure", "cilium"] = optional(
        "azure",
        "What routes packets between pods: Azure's own, or Cilium (needs `policy: cilium`).",
    )
    policy: Literal["none", "azure", "calico", "cilium"] | None = optional(
        None,
        "What enforces NetworkPolicy objects (page use-network-policies). Default: nothing.",
    )
