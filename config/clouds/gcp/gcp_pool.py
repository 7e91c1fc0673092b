"""The keys of a pool that only GKE has, under its key `gcp`."""

from __future__ import annotations

from typing import Literal

from config.clouds.provider_properties import Properties
from config.model.fields import Duration, Model, optional
from config.model.pool import AnyPool


class GcpLocalSsd(Model):
    """Disks inside the machine, of 375 GB each (3 TB on A4X): fast, and lost with the node (page
    local-ssd).
    """

    count: int | None = optional(
        None,
        "How many a node has. Required where the machine type leaves the choice; others always "
        "have the same number.",
        1,
        ge=1,
        le=48,
    )
    use: Literal["ephemeral", "block"] = optional(
        "ephemeral",
        "`ephemeral`: emptyDir volumes, images and logs; `block`: raw devices for volumes of the "
        "kind `local`.",
    )


class GcpNodes(Model):
    """Settings of a pool's nodes that only GKE has."""

    disk_type: Literal["pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced"] | None = (
        optional(
            None,
            "The boot disk's type. Default: pd-balanced, or the first that the machine boots from.",
        )
    )
    image_type: Literal["COS_CONTAINERD", "UBUNTU_CONTAINERD"] = optional(
        "COS_CONTAINERD", "The nodes' operating system: Container-Optimized OS or Ubuntu."
    )
    secure_boot: bool = optional(
        False, "Secure Boot of Shielded nodes; it refuses drivers that Google has not signed."
    )
    integrity_monitoring: bool = optional(True, "Integrity monitoring of Shielded nodes.")
    # https://www.pulumi.com/registry/packages/gcp/api-docs/container/nodepool/
    properties: Properties = optional(
        {},
        "Properties of the node pool without a key here, in the names of Pulumi's `NodePool`.",
        {"nodeConfig": {"gvnic": {"enabled": True}, "tags": ["gpu"]}},
    )
    local_ssd: GcpLocalSsd | None = optional(
        None, "Local SSDs of the nodes; immutable. Default: those that the machine always has."
    )


class GcpPool(GcpNodes):
    """Settings of a pool that only GKE has."""

    min_nodes_per_zone: int | None = optional(
        None,
        "Least nodes in each zone, instead of minNodes. Default: 0 for GPU and spot pools, else 1.",
        0,
        ge=0,
    )
    max_nodes_per_zone: int | None = optional(
        None, "Most nodes in each zone, instead of maxNodes.", 4, ge=1
    )
    location_policy: Literal["any", "balanced"] | None = optional(
        None,
        "Which zones grow first: `any` takes available machines anywhere, `balanced` keeps zones "
        "equal. Default: any for spot pools, else balanced.",
    )
    driver_version: Literal["default", "latest"] = optional(
        "default", "The NVIDIA driver that GKE installs; `latest` on Container-Optimized OS only."
    )
    shutdown_grace_seconds: int | None = optional(
        None,
        "Seconds of notice for a spot node, 15 of them for system pods. GKE's default: 30.",
        120,
        ge=30,
        le=120,
    )
    max_run_duration: Duration | None = optional(
        None,
        "How long a flex-start machine runs: `10m` to `168h`. Default: 168h, seven days.",
        "24h",
    )
    device_plugin: Literal["gke", "nvidia"] = optional(
        "gke",
        "`nvidia` keeps GKE's device plugin off these nodes; it needs `devicePlugin.install: "
        "never`.",
    )
    compute_class: bool = optional(
        True,
        "Whether the pool may be in the ComputeClass; false for a pool that pods name themselves.",
    )


class GkeSystemPool(Model):
    """Keys of the system pool."""

    gcp: GcpNodes | None = optional(None, "Disks, images and boot of the nodes.")


class GkePool(Model):
    """Keys of a pool."""

    gcp: GcpPool | None = optional(None, "Settings of GKE's node pools.")

    def of_a_zone(self, bound: Literal[0, 1]) -> int | None:
        """Return the bound of each zone, as `Pool.of_a_zone`."""
        return (
            (self.gcp.max_nodes_per_zone if bound else self.gcp.min_nodes_per_zone)
            if self.gcp
            else None
        )


def nodes_of(pool: AnyPool) -> GcpNodes | None:
    """Return the key `gcp` of a pool or of the system pool, for settings of nodes."""
    return pool.gcp if isinstance(pool, GkePool | GkeSystemPool) else None


def options_of(pool: AnyPool) -> GcpPool | None:
    """Return the key `gcp` of a pool."""
    return pool.gcp if isinstance(pool, GkePool) else None


def properties_of(pool: AnyPool) -> Properties:
    """Return the properties that a pool, or the system pool, names in the provider's words."""
    return (nodes_of(pool) or GcpNodes()).properties
