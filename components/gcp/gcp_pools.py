"""Node pools as GKE holds them: pure translations, and the resource that is declared.

Only the initial number of nodes is sent; the omitted `nodeCount` follows the autoscaler. Every
other unset property is sent as GKE's documented default, because the provider keeps the old value
of an omitted property (docs/adr/0016).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pulumi
from pulumi_gcp import container

from components import pools as shared_pools
from components import references
from components.gcp import gcp_nodes
from components.gcp.gcp_live import LiveCluster
from components.laid_over import laid_over
from components.resources import wire
from config.clouds.gcp.gcp_pool import GcpPool, options_of, properties_of
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.gcp.gcp_tables import accelerator
from config.clouds.gcp.gcp_traits import NO_DEFAULT_PLUGIN
from config.model.pool import Capacity, Upgrade
from config.placement.node_pools import NodePool

_PODS = 110
"""Most pods of a node in a VPC-native cluster by default (page flexible-pod-cidr)."""


_NODES = "nodeConfig"

_SURGE = Upgrade(maxSurge="1", maxUnavailable="0")
"""GKE's default (page node-pool-upgrade-strategies)."""


@dataclass(frozen=True)
class PlannedPool:
    """A pool of any role, planned before any resource exists: account and key are texts."""

    pool: NodePool
    args: container.NodePoolArgs
    """Without the settings of its nodes."""
    nodes: container.NodePoolNodeConfigArgs

    @cached_property
    def request(self) -> dict[str, Any]:
        """The properties to compare with a live pool, keyed by Google property name."""
        return {**wire(self.args), _NODES: wire(self.nodes)}


def planned(
    pool: NodePool,
    cloud: Gcp,
    account: str,
    tags: Mapping[str, str],
    live: LiveCluster,
    *,
    cluster: str,
    workload_identity: bool = True,
) -> PlannedPool:
    """Return the request for a pool of any role, in any cluster; `cluster` is its name.

    `workload_identity`: whether the cluster has it, as every cluster of this program does.
    """
    source = pool.source
    options = options_of(source) or GcpPool()
    flex = pool.capacity == Capacity.FLEX_START
    count = source.zone_count(cloud)
    first = len(pool.zones) or len(live.zones) or count
    # An existing cluster without alias addresses has no such number and takes none (pulumi-gcp,
    # maxPodsPerNode).
    usual = int(live.answer.get("defaultMaxPodsPerNode") or 0) if cloud.existing_cluster else _PODS
    args = container.NodePoolArgs(
        cluster=cluster,
        project=cloud.project,
        location=cloud.place,
        name=pool.name,
        node_locations=list(pool.zones or sorted(cloud.zones)) or _clusters_zones(pool.name, live),
        max_pods_per_node=source.max_pods or usual or None,
        management=container.NodePoolManagementArgs(auto_repair=not flex, auto_upgrade=True),
        initial_node_count=_first_nodes(pool, cloud, first, live),
        # The cluster's setting does not reach existing pools (terraform-google-kubernetes-engine
        # issue 2258).
        network_config=None
        if cloud.existing_cluster
        else container.NodePoolNetworkConfigArgs(enable_private_nodes=cloud.network.private_nodes),
        autoscaling=_bounds(pool, options, count),
        # GKE sets a strategy that the provider refuses (crossplane-contrib/provider-upjet-gcp issue
        # 1028).
        upgrade_settings=None
        if flex
        else _upgrade(shared_pools.upgrade_of_pool(pool, _SURGE, full=bool(pool.reservation))),
    )
    nodes = gcp_nodes.node_config(pool, cloud, account, tags, live, workload_identity)
    given = dict(properties_of(source))
    of_nodes = given.pop(_NODES, {})
    return PlannedPool(pool, laid_over(args, given), laid_over(nodes, of_nodes))


def _clusters_zones(name: str, live: LiveCluster) -> list[str] | None:
    """Return the cluster's zones for a live pool that has others, else None.

    A pool keeps its zones if they are omitted (terraform-provider-google, container_node_pool).
    """
    pool = live.pools.get(name)
    return (
        live.zones
        if pool and live.zones and sorted(pool.get("nodeLocations") or live.zones) != live.zones
        else None
    )


def _bounds(pool: NodePool, options: GcpPool, zones: int) -> container.NodePoolAutoscalingArgs:
    """Return bounds of the whole pool or of each zone, never both (pulumi-gcp,
    NodePoolAutoscalingArgs).
    """
    # GKE's default is ANY for machines that it may reclaim (page cluster-autoscaler).
    ends = pool.capacity != Capacity.ON_DEMAND
    policy = (options.location_policy or ("any" if ends else "balanced")).upper()
    # A twin has bounds of its own, which are totals.
    if options.max_nodes_per_zone is None or pool.twin:
        return container.NodePoolAutoscalingArgs(
            total_min_node_count=pool.min_nodes,
            total_max_node_count=pool.max_nodes,
            location_policy=policy,
        )
    return container.NodePoolAutoscalingArgs(
        min_node_count=pool.min_nodes // zones,
        max_node_count=options.max_nodes_per_zone,
        location_policy=policy,
    )


def _first_nodes(pool: NodePool, cloud: Gcp, zones: int, live: LiveCluster) -> int:
    """Return the initial nodes of each zone.

    A new generation begins with as many nodes as the old one, which is deleted next. If another
    pool holds the same reservation it begins empty: GKE refuses nodes beyond the reservation (429,
    GoogleCloudPlatform/gsutil issue 1000), and the provider repeats that for two hours. The
    autoscaler adds the nodes when the old ones are gone.
    """
    if pool.reservation and gcp_nodes.is_held(pool.reservation, pool.name, cloud.project, live):
        return 0
    return _initial(pool.min_nodes, pool.max_nodes, zones, live.per_zone(pool.label))


def _initial(least: int, most: int, zones: int, now: int = 0) -> int:
    return min(max(math.ceil(least / zones), now), most // zones)


def _upgrade(upgrade: Upgrade) -> container.NodePoolUpgradeSettingsArgs:
    # The rules refuse all but whole numbers.
    surge, away = int(upgrade.max_surge or 0), int(upgrade.max_unavailable or 0)
    return container.NodePoolUpgradeSettingsArgs(
        strategy="SURGE", max_surge=surge, max_unavailable=away
    )


def declare(
    name: str,
    planned: PlannedPool,
    cloud: Gcp,
    *,
    account: pulumi.Input[str],
    cluster: pulumi.Input[str],
    parent: pulumi.Resource,
    after: Sequence[pulumi.Resource] = (),
    deleted_with: pulumi.Resource | None = None,
) -> container.NodePool:
    """Declare one pool of the cluster, with the account and the key as outputs.

    Its name is its identity, so a replacement deletes first; `gcp_immutable_pools` refuses that for
    pools in use. Later changes of the initial node count are ignored: they would replace the pool.
    """
    nodes, args, key = copy(planned.nodes), copy(planned.args), cloud.encryption.boot_disk_key
    nodes.service_account = account
    nodes.boot_disk_kms_key = references.output(key) if key else None
    args.cluster, args.node_config = cluster, nodes
    return container.NodePool(
        f"{name}-{planned.pool.name}",
        args,
        pulumi.ResourceOptions(
            parent=parent,
            depends_on=list(after),
            deleted_with=deleted_with,
            delete_before_replace=True,
            ignore_changes=["initialNodeCount"],
        ),
    )


def node_labels(pool: NodePool) -> dict[str, str]:
    """Return the known labels of GKE on a pool's nodes (a dump of v1.36.3-gke; page gpus)."""
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
