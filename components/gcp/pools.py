"""Node pools as GKE holds them: pure translations, and the resource that is declared.

Only the initial number of nodes is sent: `nodeCount` left out follows the autoscaler in the state. Every other unset property is
sent as GKE's documented default, because the provider keeps the old value of a property that is left out (docs/adr/0029).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from components import upgrades
from components.gcp import accelerators, reservations
from components.gcp.live import LiveCluster, block, config
from components.gcp.types import NODE_POOL
from components.resources import Declared
from config.clouds import registry
from config.clouds.gcp.machines import accelerator
from config.clouds.gcp.pool import GcpNodes, GcpPool, nodes_of, options_of
from config.clouds.gcp.settings import Gcp
from config.clouds.gcp.traits import NO_DEFAULT_PLUGIN, default_boot_disk
from config.model.growth import seconds
from config.model.pool import AnyPool, Capacity, OsDisk, Upgrade
from config.model.taint import Effect, Taint
from config.placement.node_pools import NodePool

SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
"""All of them: IAM limits the nodes' rights (docs.cloud.google.com/compute/docs/access/service-accounts)."""

_METADATA = {"mode": "GKE_METADATA"}
"""Pods get no further than their own identity (page workload-identity)."""

EFFECTS = {
    Effect.NO_SCHEDULE: "NO_SCHEDULE",
    Effect.PREFER_NO_SCHEDULE: "PREFER_NO_SCHEDULE",
    Effect.NO_EXECUTE: "NO_EXECUTE",
}
"""Google's names of the effects of taints."""

_FOR_SYSTEM_PODS = 15
"""Seconds at the end of a spot node's notice that GKE keeps for system pods (page spot-vms)."""

_PODS = 110
"""A node of a VPC-native cluster takes so many by default (page flexible-pod-cidr)."""

_DISK_GB = 100
"""docs.cloud.google.com/kubernetes-engine/docs/reference/rest/v1/NodeConfig, diskSizeGb"""

_NOTICE = 30
"""Seconds of notice a spot node has by default (page spot-vms)."""

_SURGE = Upgrade(maxSurge="1", maxUnavailable="0")
"""GKE's default (page node-pool-upgrade-strategies)."""


def node_pool(
    pool: NodePool,
    cloud: Gcp,
    account: pulumi.Input[str],
    tags: Mapping[str, str],
    live: LiveCluster,
    *,
    workload_identity: bool = True,
) -> dict[str, Any]:
    """The request for a pool of any role, in any cluster.

    `workload_identity`: whether the cluster has it, as every cluster of this program does.
    """
    source = pool.source
    nodes, options = nodes_of(source) or GcpNodes(), options_of(source) or GcpPool()
    count = source.zone_count(cloud)
    first = len(pool.zones) or len(live.zones) or count
    grace = _grace(pool, options, live)
    flex = pool.capacity == Capacity.FLEX_START
    # GKE puts its own on by itself and keeps them from others (page labels-taints-and-tolerations).
    by_itself = {key for key, _ in registry.of(cloud).spot_labels}
    labels = {key: value for key, value in pool.labels.items() if key not in by_itself}
    if pool.gpus and options.device_plugin == "nvidia":
        labels[NO_DEFAULT_PLUGIN] = "true"
    return _pruned(
        {
            **_pool(pool.name, source, cloud, pool.zones, live),
            "management": {"autoRepair": not flex, "autoUpgrade": True},
            "initialNodeCount": _first_nodes(pool, cloud, first, live),
            "autoscaling": _bounds(pool, options, count),
            "nodeConfig": {
                **_machine(pool.machine, source.os_disk, nodes, cloud, account, tags),
                "workloadMetadataConfig": _METADATA if workload_identity else None,
                "spot": True if pool.spot and not pool.preemptible else None,
                "preemptible": True if pool.preemptible else None,
                **(_flex_start(options) if flex else {}),
                "reservationAffinity": reservations.affinity(pool.reservation, pool.name, cloud.project, live)
                if pool.reservation
                else _NONE
                if flex
                else None,
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
            # GKE sets a strategy of its own, which the provider does not take (crossplane-contrib/provider-upjet-gcp issue 1028).
            "upgradeSettings": None if flex else _upgrade(upgrades.of(pool, _SURGE, full=bool(pool.reservation))),
        }
    )


def temporary_nodes(cloud: Gcp, account: pulumi.Input[str]) -> dict[str, Any]:
    """Settings of the initial pool, which is removed at once: its nodes get no more rights than others."""
    return _pruned(
        {
            "serviceAccount": account,
            "oauthScopes": list(SCOPES),
            "workloadMetadataConfig": _METADATA,
            "shieldedInstanceConfig": {"enableIntegrityMonitoring": True},
            "bootDiskKmsKey": cloud.encryption.boot_disk_key,
        }
    )


def _pool(name: str, pool: AnyPool, cloud: Gcp, zones: Sequence[str], live: LiveCluster) -> dict[str, Any]:
    # An existing cluster without alias addresses has no such number and takes none (pulumi-gcp, maxPodsPerNode).
    usual = int(live.answer.get("defaultMaxPodsPerNode") or 0) if cloud.existing_cluster else _PODS
    return {
        "project": cloud.project,
        "location": cloud.place,
        "name": name,
        "nodeLocations": list(zones or sorted(cloud.zones)) or _clusters_zones(name, live),
        "maxPodsPerNode": pool.max_pods or usual or None,
    }


def _clusters_zones(name: str, live: LiveCluster) -> list[str] | None:
    """The cluster's zones, for a live pool that has others; None where GKE applies them by itself.

    A pool's zones do not go back to the cluster's when they are left out (terraform-provider-google, container_node_pool).
    """
    pool = live.pools.get(name)
    return live.zones if pool and live.zones and sorted(pool.get("nodeLocations") or live.zones) != live.zones else None


def _grace(pool: NodePool, nodes: GcpPool, live: LiveCluster) -> int | None:
    """Seconds of notice; None for GKE's default where the live pool has no other value: older clusters refuse the setting."""
    if not pool.spot or pool.preemptible:
        return None
    kubelet = block(config(live.pools.get(pool.name, {})), "kubeletConfigs")
    now = int(kubelet.get("shutdownGracePeriodSeconds") or _NOTICE)
    return nodes.shutdown_grace_seconds or (None if now == _NOTICE else _NOTICE)


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
        "diskSizeGb": disk.size_gb or _DISK_GB,
        "diskType": nodes.disk_type or default_boot_disk(machine),
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


def _total(least: int, most: int) -> dict[str, Any]:
    return {"totalMinNodeCount": least, "totalMaxNodeCount": most}


def _bounds(pool: NodePool, nodes: GcpPool, zones: int) -> dict[str, Any]:
    """Bounds of the whole pool or of each zone, never both (pulumi-gcp, NodePoolAutoscalingArgs)."""
    # GKE's default is ANY for machines that it may take back (page cluster-autoscaler).
    ends = pool.capacity != Capacity.ON_DEMAND
    policy = {"locationPolicy": (nodes.location_policy or ("any" if ends else "balanced")).upper()}
    # A twin has bounds of its own, which are totals.
    if nodes.max_nodes_per_zone is None or pool.twin:
        return {**_total(pool.min_nodes, pool.max_nodes), **policy}
    return {"minNodeCount": pool.min_nodes // zones, "maxNodeCount": nodes.max_nodes_per_zone, **policy}


_NONE = {"consumeReservationType": "NO_RESERVATION"}
"""Flex-start takes no reserved machines (page dws-flex-start-training)."""


def _flex_start(nodes: GcpPool) -> dict[str, Any]:
    """A node runs seven days where the stack file says nothing (same page); a node is not repaired, which would end its pods."""
    return {"flexStart": True, "maxRunDuration": f"{seconds(nodes.max_run_duration or '168h')}s"}


def _first_nodes(pool: NodePool, cloud: Gcp, zones: int, live: LiveCluster) -> int:
    """Initial nodes of each zone.

    A pool that replaces another generation, which is deleted right after, begins with as many nodes. Where another pool holds the
    same reservation it begins with none: GKE refuses what the reservation has no room for (429, GoogleCloudPlatform/gsutil issue
    1000), and the provider asks again for two hours. The autoscaler makes the nodes when the old ones are gone.
    """
    if pool.reservation and reservations.held(pool.reservation, pool.name, cloud.project, live):
        return 0
    return _initial(pool.min_nodes, pool.max_nodes, zones, live.per_zone(pool.label))


def _initial(least: int, most: int, zones: int, now: int = 0) -> int:
    """Initial nodes of each zone: enough for the minimum, and never more than the maximum."""
    return min(max(math.ceil(least / zones), now), most // zones)


def _taints(taints: Sequence[Taint]) -> list[dict[str, str]]:
    return [{"key": taint.key, "value": taint.value, "effect": EFFECTS[taint.effect]} for taint in taints]


def _upgrade(upgrade: Upgrade) -> dict[str, Any]:
    # The rules refuse all but whole numbers.
    surge, away = int(upgrade.max_surge or 0), int(upgrade.max_unavailable or 0)
    return {"strategy": "SURGE", "maxSurge": surge, "maxUnavailable": away}


def _pruned(value: dict[str, Any]) -> dict[str, Any]:
    """Without unset values."""
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

    Its name is its identity, so a replacement deletes first; `immutable_pools` refuses that for pools in use. The initial node
    count is ignored later: GKE would replace the pool for another number.
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


def node_labels(pool: NodePool) -> dict[str, str]:
    """The known ones among the labels that GKE puts on a pool's nodes (a dump of v1.36.3-gke; page gpus)."""
    labels = {
        "cloud.google.com/gke-nodepool": pool.name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": pool.machine,
    }
    if pool.gpus:
        labels |= {
            "cloud.google.com/gke-accelerator": accelerator(pool.gpu_model),
            "cloud.google.com/gke-accelerator-count": str(pool.gpus),
            "cloud.google.com/gke-gpu": "true",
        }
        options = options_of(pool.source)
        if options and options.device_plugin == "nvidia":
            labels[NO_DEFAULT_PLUGIN] = "true"
    return labels
