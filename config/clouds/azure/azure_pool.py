"""The keys of a pool that only AKS has, in the pool itself and under its key `azure`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import StringConstraints

from config.clouds.provider_properties import Properties
from config.model import pool as any_cloud
from config.model.fields import Model, Reference, Text, optional
from config.model.pool import AnyPool


class Spot(any_cloud.Spot):
    """Purchase of spot machines; immutable (learn.microsoft.com/azure/aks/spot-node-pool)."""

    eviction_policy: Literal["Delete", "Deallocate"] = optional(
        "Delete",
        "What Azure does with an evicted machine: delete, or stop and keep its disk and quota.",
    )
    max_price: float = optional(
        -1,
        "The most US dollars per machine and hour, at most five decimals; -1: no limit.",
        0.5,
        allow_inf_nan=False,
    )


class OsDisk(any_cloud.OsDisk):
    """A node's system disk."""

    type: Literal["Managed", "Ephemeral"] | None = optional(
        None,
        "`Ephemeral`: on the local disk: faster, free, lost with the machine. Default: AKS' "
        "choice.",
    )


class AzureNodes(Model):
    """Settings of a pool's nodes that only AKS has."""

    # https://learn.microsoft.com/azure/aks/use-trusted-launch
    secure_boot: bool = optional(
        False,
        "Secure Boot of Trusted Launch: only signed software. Not with AKS' GPU driver.",
    )
    vtpm: bool = optional(
        False,
        "A virtual TPM of Trusted Launch, which measures the boot. Generation 2 machines only.",
    )
    # https://learn.microsoft.com/azure/templates/microsoft.containerservice/managedclusters/agentpools
    properties: Properties = optional(
        {},
        "Properties of the agent pool without a key here, in Azure's names.",
        {"osSKU": "AzureLinux", "upgradeSettings": {"drainTimeoutInMinutes": 60}},
    )


class AksNodes(Model):
    """Keys of a pool or of the system pool."""

    os_disk: OsDisk = optional(OsDisk(), "The system disk of each node.")
    subnet: Annotated[Reference, Text(Annotated[str, StringConstraints(min_length=1)])] | None = (
        optional(
            None,
            "The nodes' subnet: a name of cloud.network.subnets, or of the existing network. "
            "Default: cloud.network.nodeSubnet, or the existing network's `subnet`.",
            "gpu",
        )
    )
    azure: AzureNodes | None = optional(
        None, "Secure Boot and virtual TPM of the nodes, and further properties of the pool."
    )


class AksPool(AksNodes):
    """Keys of a pool."""

    spot: Spot | None = optional(
        None, "How spot machines are bought. Default: at any price; evicted machines are deleted."
    )


def settings_of(pool: AnyPool) -> AksNodes:
    """Return a pool, or the system pool, with AKS' keys, which each of a stack file has."""
    assert isinstance(pool, AksNodes)
    return pool


def nodes_of(pool: AnyPool) -> AzureNodes:
    """Return the key `azure` of a pool, with AKS' defaults where the file has none."""
    return settings_of(pool).azure or AzureNodes()


def spot_of(pool: AnyPool) -> Spot:
    """Return the key `spot` of a pool, likewise."""
    assert isinstance(pool, AksPool)
    return pool.spot or Spot()
