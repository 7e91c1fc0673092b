"""The keys of a pool that only AKS has, in the pool itself and under its key `azure`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from config.model import pool as any_cloud
from config.model.fields import Model, Reference, Text
from config.model.pool import AnyPool


class Spot(any_cloud.Spot):
    """Purchase of spot machines; fixed for the pool's life on Azure (learn.microsoft.com/azure/aks/spot-node-pool)."""

    eviction_policy: Literal["Delete", "Deallocate"] = Field(
        "Delete",
        description="What Azure does with an evicted machine: delete it, or stop it and keep its disk and quota.",
    )
    max_price: float = Field(
        -1,
        allow_inf_nan=False,
        description="The most to pay, in US dollars per machine and hour with at most five decimals; -1: never evicted for its "
        "price.",
        examples=[0.5],
    )


class OsDisk(any_cloud.OsDisk):
    """A node's system disk."""

    type: Literal["Managed", "Ephemeral"] | None = Field(
        None,
        description="`Ephemeral`: on the machine's local disk, faster and free, and gone with the machine. Default: AKS' "
        "choice for the machine.",
    )


class AzureNodes(Model):
    """Settings of a pool's nodes that only AKS has."""

    # https://learn.microsoft.com/azure/aks/use-trusted-launch
    secure_boot: bool = Field(
        False,
        description="Secure Boot of Trusted Launch: nodes boot signed software alone. Not with the GPU driver that AKS installs.",
    )
    vtpm: bool = Field(
        False,
        description="A virtual TPM of Trusted Launch, which measures what a node boots. Generation 2 machines alone.",
    )


class AksNodes(Model):
    """Keys of a pool or of the system pool."""

    os_disk: OsDisk = Field(OsDisk(), description="The system disk of each node.")
    subnet: Annotated[Reference, Text(Annotated[str, StringConstraints(min_length=1)])] | None = (
        Field(
            None,
            description="The nodes' subnet: a name of cloud.network.subnets, or of the existing network. Default: "
            "cloud.network.nodeSubnet, or the existing network's `subnet`.",
            examples=["gpu"],
        )
    )
    azure: AzureNodes | None = Field(None, description=f"{AzureNodes.__doc__} Default: none.")


class AksPool(AksNodes):
    """Keys of a pool."""

    spot: Spot | None = Field(
        None,
        description="How a spot pool is bought. Default: at any price, evicted machines are deleted.",
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
