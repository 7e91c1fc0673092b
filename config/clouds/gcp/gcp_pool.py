"""The keys of a pool that only GKE has, under its key `gcp`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from config.model.fields import Duration, Model
from config.model.pool import AnyPool


class GcpNodes(Model):
    """Settings of a pool's nodes that only GKE has."""

    disk_type: Literal["pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced"] | None = Field(
        None,
        description="The boot disk's type. Default: pd-balanced, or the first type the machine family boots from.",
    )
    image_type: Literal["COS_CONTAINERD", "UBUNTU_CONTAINERD"] = Field(
        "COS_CONTAINERD",
        description="The nodes' operating system: Container-Optimized OS or Ubuntu.",
    )
    secure_boot: bool = Field(
        False,
        description="Secure Boot of Shielded nodes; it refuses drivers that Google has not signed.",
    )
    integrity_monitoring: bool = Field(True, description="Integrity monitoring of Shielded nodes.")


class GcpPool(GcpNodes):
    """Settings of a pool that only GKE has."""

    min_nodes_per_zone: int | None = Field(
        None,
        ge=0,
        description="Least nodes in each zone, instead of minNodes. Default: 0 for GPU and spot pools, 1 for others.",
        examples=[0],
    )
    max_nodes_per_zone: int | None = Field(
        None,
        ge=1,
        description="Most nodes in each zone, instead of maxNodes. Default: maxNodes bounds the whole pool.",
        examples=[4],
    )
    location_policy: Literal["any", "balanced"] | None = Field(
        None,
        description="Which zones grow first: `any` takes machines wherever there are some, `balanced` keeps zones equal. "
        "Default: any for spot pools, else balanced.",
    )
    driver_version: Literal["default", "latest"] = Field(
        "default",
        description="The NVIDIA driver that GKE installs; `latest` on Container-Optimized OS only.",
    )
    shutdown_grace_seconds: int | None = Field(
        None,
        ge=30,
        le=120,
        description="Seconds of notice that a spot node has, of which the last 15 are for system pods. GKE's own default: 30 "
        "(page spot-vms).",
        examples=[120],
    )
    max_run_duration: Duration | None = Field(
        None,
        description="How long a flex-start machine runs before Google ends it: `10m` to `168h`. Default: 168h, seven days.",
        examples=["24h"],
    )
    device_plugin: Literal["gke", "nvidia"] = Field(
        "gke",
        description="`nvidia` keeps GKE's own device plugin off these nodes, for the GPU Operator's; it needs "
        "`devicePlugin.install: never`.",
    )
    compute_class: bool = Field(
        True,
        description="Whether the pool may be in the ComputeClass; false for a pool that pods name themselves.",
    )


class GkeSystemPool(Model):
    """Keys of the system pool."""

    gcp: GcpNodes | None = Field(None, description=f"{GcpNodes.__doc__} Default: none.")


class GkePool(Model):
    """Keys of a pool."""

    gcp: GcpPool | None = Field(None, description=f"{GcpPool.__doc__} Default: none.")

    def of_a_zone(self, bound: Literal[0, 1]) -> int | None:
        """As `Pool.of_a_zone`."""
        return (
            (self.gcp.max_nodes_per_zone if bound else self.gcp.min_nodes_per_zone)
            if self.gcp
            else None
        )


def nodes_of(pool: AnyPool) -> GcpNodes | None:
    """The key `gcp` of a pool or of the system pool, as far as it is about nodes."""
    return pool.gcp if isinstance(pool, GkePool | GkeSystemPool) else None


def options_of(pool: AnyPool) -> GcpPool | None:
    """The key `gcp` of a pool."""
    return pool.gcp if isinstance(pool, GkePool) else None
