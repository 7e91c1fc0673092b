"""Node pools as GKE holds them: pure translations, and the resource that is declared.

No number of nodes is sent but the one a pool begins with: `nodeCount` left out follows the autoscaler in the state.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from components.declared import Declared
from components.gcp import accelerators
from components.gcp.live import LiveCluster
from components.gcp.types import NODE_POOL
from spec.clouds.gcp import NO_DEFAULT_PLUGIN, boot_disks, gke
from spec.gcp import Gcp, GcpNodes, GcpPool
from spec.model import Capacity, Effect, OsDisk, Pool, SystemPool, Taint, Upgrade
from spec.placement import CAPACITY_LABEL, CRITICAL_ADDONS_TAINT, POOL_LABEL, NodePool

SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
"""All of them: what nodes may do is for IAM to limit (docs.cloud.google.com/compute/docs/access/service-accounts)."""

_METADATA = {"mode": "GKE_METADATA"}
"""Pods get no further than their own identity (page workload-identity)."""

_EFFECTS = {
    Effect.NO_SCHEDULE: "NO_SCHEDULE",
    Effect.PREFER_NO_SCHEDULE: "PREFER_NO_SCHEDULE",
    Effect.NO_EXECUTE: "NO_EXECUTE",
}

_FOR_SYSTEM_PODS = 15
"""Seconds at the end of a spot node's notice that GKE keeps for system pods (page spot-vms)."""

_IN_PLACE = Upgrade(maxSurge="0", maxUnavailable="1")
"""For GPU pools: quota for one more GPU machine is seldom there (page node-pool-upgrade-strategies)."""


def system_pool(pool: SystemPool, cloud: Gcp, account: pulumi.Input[str], tags: Mapping[str, str]) -> dict[str, Any]:
    """What the on-demand pool of the cluster's own pods asks of GKE, to which it is a pool like any other."""
    nodes = pool.gcp or GcpNodes()
    zones = tuple(sorted(pool.zones))
    taints = [CRITICAL_ADDONS_TAINT] if pool.critical_addons_only else []
    labels = {CAPACITY_LABEL: Capacity.ON_DEMAND.value, POOL_LABEL: pool.name}
    count = len(zones) or cloud.zone_count
    return _pruned(
        {
            **_pool(pool, cloud, zones),
            "name": pool.name,
            "initialNodeCount": _initial(pool.min_nodes, pool.max_nodes, count),
            "autoscaling": _total(pool.min_nodes, pool.max_nodes),
            "nodeConfig": {
                **_machine(gke().size(pool.machine), pool.os_disk, nodes, cloud, account, tags),
                "workloadMetadataConfig": _METADATA,
                "labels": labels,
                "taints": _taints(taints),
            },
            "upgradeSettings": _upgrade(pool.upgrade),
        }
    )


def node_pool(
    pool: NodePool,
    cloud: Gcp,
    account: pulumi.Input[str],
    tags: Mapping[str, str],
    live: LiveCluster,
    *,
    workload_identity: bool = True,
) -> dict[str, Any]:
    """What a pool of the stack file, or a twin, asks of GKE, whatever cluster it is in.

    `workload_identity`: whether the cluster has it; one of this program has.
    """
    source = pool.source
    nodes = source.gcp or GcpPool()
    count = source.zone_count(cloud)
    first = len(pool.zones) or live.zone_count or count
    grace = nodes.shutdown_grace_seconds if pool.spot else None
    # GKE puts its own on by itself and keeps them from others (page labels-taints-and-tolerations).
    by_itself = {key for key, _ in gke().spot_labels}
    labels = {key: value for key, value in pool.labels.items() if key not in by_itself}
    if pool.gpus and nodes.device_plugin == "nvidia":
        labels[NO_DEFAULT_PLUGIN] = "true"
    return _pruned(
        {
            **_pool(source, cloud, pool.zones),
            "name": pool.name,
            # A pool that takes the place of another generation, which goes right after, begins with its nodes.
            "initialNodeCount": _initial(pool.min_nodes, pool.max_nodes, first, live.per_zone(pool.label)),
            "autoscaling": _bounds(pool, nodes, count),
            "nodeConfig": {
                **_machine(pool.machine, source.os_disk, nodes, cloud, account, tags),
                "workloadMetadataConfig": _METADATA if workload_identity else None,
                "spot": True if pool.spot and not pool.preemptible else None,
                "preemptible": True if pool.preemptible else None,
                "labels": dict(sorted(labels.items())),
                "taints": _taints(pool.taints),
                "guestAccelerators": accelerators.guest(pool),
                "kubeletConfig": {
                    "shutdownGracePeriodSeconds": grace,
                    "shutdownGracePeriodCriticalPodsSeconds": _FOR_SYSTEM_PODS,
                }
                if grace
                else None,
            },
            "upgradeSettings": _upgrade(source.upgrade or (_IN_PLACE if pool.gpus else None)),
        }
    )


def temporary_nodes(cloud: Gcp, account: pulumi.Input[str]) -> dict[str, Any]:
    """The nodes of the pool that GKE makes with the cluster and that is removed at once: no more rights than others."""
    return _pruned(
        {
            "serviceAccount": account,
            "oauthScopes": list(SCOPES),
            "workloadMetadataConfig": _METADATA,
            "shieldedInstanceConfig": {"enableIntegrityMonitoring": True},
            "bootDiskKmsKey": cloud.encryption.boot_disk_key,
        }
    )


def _pool(pool: Pool | SystemPool, cloud: Gcp, zones: Sequence[str]) -> dict[str, Any]:
    return {
        "project": cloud.project,
        "location": cloud.place,
        "nodeLocations": list(zones or sorted(cloud.zones)) or None,
        "maxPodsPerNode": pool.max_pods,
        "management": {"autoRepair": True, "autoUpgrade": True},
    }


def _machine(
    machine: str,
    disk: OsDisk,
    nodes: GcpNodes,
    cloud: Gcp,
    account: pulumi.Input[str],
    tags: Mapping[str, str],
) -> dict[str, Any]:
    return {
        "machineType": machine,
        "diskSizeGb": disk.size_gb,
        "diskType": nodes.disk_type or _disk_type(machine),
        "bootDiskKmsKey": cloud.encryption.boot_disk_key,
        "imageType": nodes.image_type,
        "shieldedInstanceConfig": {
            "enableSecureBoot": nodes.secure_boot,
            "enableIntegrityMonitoring": nodes.integrity_monitoring,
        },
        "serviceAccount": account,
        "oauthScopes": list(SCOPES),
        "resourceLabels": dict(tags),
    }


def _disk_type(machine: str) -> str | None:
    """What a machine boots from that does not take GKE's default; None where that will do (page custom-boot-disks)."""
    found = boot_disks(machine)
    return found[0] if found and "pd-balanced" not in found else None


def _total(least: int, most: int) -> dict[str, Any]:
    return {"totalMinNodeCount": least, "totalMaxNodeCount": most}


def _bounds(pool: NodePool, nodes: GcpPool, zones: int) -> dict[str, Any]:
    """Of the whole pool or of each zone, never both (pulumi-gcp, NodePoolAutoscalingArgs)."""
    policy = {"locationPolicy": nodes.location_policy.upper()} if nodes.location_policy else {}
    # A twin has bounds of its own, which are totals.
    if nodes.max_nodes_per_zone is None or pool.twin:
        return {**_total(pool.min_nodes, pool.max_nodes), **policy}
    return {"minNodeCount": pool.min_nodes // zones, "maxNodeCount": nodes.max_nodes_per_zone, **policy}


def _initial(least: int, most: int, zones: int, now: int = 0) -> int:
    """Nodes a zone in the beginning: enough for the minimum, unless that were more than the maximum."""
    return min(max(math.ceil(least / zones), now), most // zones)


def _taints(taints: Sequence[Taint]) -> list[dict[str, str]]:
    return [{"key": taint.key, "value": taint.value, "effect": _EFFECTS[taint.effect]} for taint in taints]


def _upgrade(upgrade: Upgrade | None) -> dict[str, Any] | None:
    if upgrade is None:
        return None
    # The rules let only whole numbers come here.
    surge, away = int(upgrade.max_surge or 0), int(upgrade.max_unavailable or 0)
    return {"strategy": "SURGE", "maxSurge": surge, "maxUnavailable": away}


def _pruned(value: dict[str, Any]) -> dict[str, Any]:
    """Without what is not set."""
    return {key: _pruned(item) if isinstance(item, dict) else item for key, item in value.items() if item is not None}


def declare(
    name: str,
    args: Mapping[str, Any],
    *,
    cluster: pulumi.Input[str],
    parent: pulumi.Resource,
    after: Sequence[pulumi.Resource] = (),
    deleted_with: pulumi.Resource | None = None,
) -> Declared:
    """One pool of the cluster with that name.

    Its name is its identity, so a replacement deletes first; `fixed` refuses that for pools in use. What a pool began with
    is no change to make of it: GKE would replace it for another number.
    """
    return Declared(
        NODE_POOL,
        f"{name}-{args['name']}",
        {"cluster": cluster, **args},
        pulumi.ResourceOptions(
            parent=parent,
            depends_on=list(after),
            deleted_with=deleted_with,
            delete_before_replace=True,
            ignore_changes=["initialNodeCount"],
        ),
    )
