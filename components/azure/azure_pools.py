"""Node pools as AKS holds them: pure translations, and the resource that is declared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pulumi
from pulumi_azure_native import containerservice

from components import pools as shared_pools
from components.azure import azure_immutable_pools
from components.azure.azure_live import LiveCluster, retries
from components.laid_over import laid_over
from components.resources import from_wire, wire
from config.clouds.azure.azure_pool import nodes_of, settings_of, spot_of
from config.model.fields import Reference
from config.model.pool import Upgrade
from config.placement.node_pools import NodePool, Role

_SURGE = Upgrade(maxSurge="10%", maxUnavailable="0")
"""AKS' default for new pools (page upgrade-aks-node-pools-rolling). It is sent because a pool keeps
what a request omits."""

_UNDRAINABLE = "Cordon"
"""By default (`Schedule`) an upgrade fails at a node that cannot be drained, such as under a
PodDisruptionBudget that allows no eviction, and the pool stays unpatched. With `Cordon` AKS cordons
that node, labels it `kubernetes.azure.com/upgrade-status: Quarantined`, puts a surge node in its
place and goes on (page upgrade-options; REST 2025-09-01, UndrainableNodeBehavior)."""

_MODES = {Role.SYSTEM: "System", Role.USER: "User"}


def profile(
    pool: NodePool,
    version: str | None,
    live: LiveCluster,
    *,
    at_host: bool = False,
    scaled: bool = True,
) -> containerservice.ManagedClusterAgentPoolProfileArgs:
    """Return a pool of any role, without its subnet and the tags of all pools.

    `version`: the stack file's, without which a pool would keep its first version; None in an
    existing cluster, which its owner upgrades. `scaled`: whether the cluster autoscaler scales it;
    else it keeps the nodes that it has.
    """
    source, spot = settings_of(pool.source), spot_of(pool.source) if pool.spot else None
    derived = containerservice.ManagedClusterAgentPoolProfileArgs(
        name=pool.name,
        mode=_MODES[pool.role],
        vm_size=pool.machine,
        orchestrator_version=live.version(version, pool.name) if version else None,
        enable_auto_scaling=scaled,
        count=live.count(pool.name, pool.min_nodes, pool.max_nodes, pool.label),
        min_count=pool.min_nodes if scaled else None,
        max_count=pool.max_nodes if scaled else None,
        os_type="Linux",
        # If it is unset, AKS' validation refuses spot pools for a surge that was not sent
        # (Azure/bicep-types-az issue 2217).
        type="VirtualMachineScaleSets",
        node_labels=dict(pool.labels),
        node_taints=[str(taint) for taint in pool.taints],
        availability_zones=list(pool.zones) or None,
        os_disk_type=source.os_disk.type,
        os_disk_size_gb=source.os_disk.size_gb,
        max_pods=pool.source.max_pods,
        enable_encryption_at_host=at_host or None,
        security_profile=azure_immutable_pools.trusted_launch(pool, live),
        capacity_reservation_group_id=pool.reservation or None,
        gpu_instance_profile=f"MIG{pool.mig}" if pool.mig else None,
        gpu_profile=containerservice.GPUProfileArgs(driver="None")
        if pool.gpus and not pool.install_driver
        else None,
        scale_set_priority="Spot" if spot else None,
        scale_set_eviction_policy=spot.eviction_policy if spot else None,
        spot_max_price=spot.max_price if spot else None,
        # AKS answers 400 to maxSurge and maxUnavailable on spot pools (terraform-provider-azurerm
        # pull request 31129). No source says whether a pool without surge nodes may cordon a node
        # that it cannot drain.
        upgrade_settings=None if spot else _upgrade_settings(pool),
    )
    return laid_over(derived, nodes_of(pool.source).properties)


def _upgrade_settings(pool: NodePool) -> containerservice.AgentPoolUpgradeSettingsArgs:
    upgrade = shared_pools.upgrade_of_pool(pool, _SURGE)
    # System pools take no maxUnavailable (page upgrade-aks-node-pools-rolling). Other pools get
    # both values: an omitted one keeps its old value, and both above 0 are a preview feature.
    system = pool.role == Role.SYSTEM
    return containerservice.AgentPoolUpgradeSettingsArgs(
        max_surge=upgrade.max_surge if system else upgrade.max_surge or "0",
        max_unavailable=None if system else upgrade.max_unavailable or "0",
        undrainable_node_behavior=_UNDRAINABLE,
    )


def listed(live: LiveCluster) -> list[containerservice.ManagedClusterAgentPoolProfileArgs]:
    """Return the cluster's live pools, each with its own version, to be sent again."""
    return [
        from_wire(containerservice.ManagedClusterAgentPoolProfileArgs, entry)
        for entry in live.profiles.values()
    ]


@dataclass(frozen=True)
class PlannedPool:
    """A user pool of the stack file, known before any resource is declared."""

    pool: NodePool
    profile: containerservice.ManagedClusterAgentPoolProfileArgs
    subnet: str | None
    """Its subnet's id, or the end of the id; None for AKS' own network, and while it is unknown."""

    @cached_property
    def request(self) -> dict[str, Any]:
        """The properties to compare with a live pool, keyed by Azure property name."""
        return {**wire(self.profile), "vnetSubnetID": self.subnet}


@dataclass(frozen=True)
class ClusterOfPools:
    """The cluster that pools are made in, new or existing."""

    name: pulumi.Input[str]
    resource_group: pulumi.Input[str]
    tags: dict[str, str]
    """Of every pool."""
    subnet_id: Callable[[Reference | None], pulumi.Input[str] | None]
    """The id of a pool's subnet, by the pool's `subnet`."""
    deleted_with: pulumi.Resource | None = None
    ignore_changes: Sequence[str] = ()


class Turns:
    """The order in which pools are made; spot pools are declared last.

    AKS cannot create two pools of one virtual network at the same time (SetVNetOwnershipFailed,
    Azure/AKS issue 4522; terraform-provider-azurerm pull request 32682), so each new pool waits for
    the one before. Among existing pools only the upgrade of a spot pool waits, for the on-demand
    pools, so that one refused pool delays no other change.
    """

    def __init__(self, live: LiveCluster, first: Sequence[pulumi.Resource] = ()) -> None:
        """`first`: resources that every pool waits for."""
        self._live = live
        self._first = list(first)
        self._last_created: pulumi.Resource | None = None
        self._upgraded: list[pulumi.Resource] = []

    def predecessors(self, request: Mapping[str, Any]) -> list[pulumi.Resource]:
        """Return the pools that AKS must finish before this request."""
        if self._is_created(request):
            return [self._last_created] if self._last_created else self._first
        spot = request.get("scaleSetPriority") == "Spot"
        return [*self._first, *(self._upgraded if spot and self._is_upgraded(request) else [])]

    def note(self, request: Mapping[str, Any], pool: pulumi.Resource) -> None:
        """Note that a pool was declared with this request."""
        if self._is_created(request):
            self._last_created = pool
        elif self._is_upgraded(request):
            self._upgraded.append(pool)

    def _is_created(self, request: Mapping[str, Any]) -> bool:
        live = self._live.profiles.get(request["name"])
        return live is None or azure_immutable_pools.differs(request, live)

    def _is_upgraded(self, request: Mapping[str, Any]) -> bool:
        live = self._live.profiles.get(request["name"], {})
        return request.get("orchestratorVersion") not in (None, live.get("orchestratorVersion"))


def declare_all(
    name: str,
    pools: Iterable[PlannedPool],
    live: LiveCluster,
    *,
    cluster: ClusterOfPools,
    first: Sequence[pulumi.Resource] = (),
    rights: Sequence[pulumi.Resource] = (),
    parent: pulumi.Resource,
) -> None:
    """Declare all user pools, each in its turn.

    `first`: resources that every pool waits for; `rights`: role assignments that AKS uses until a
    pool is gone, at its subnet and its reservation.
    """
    turns = Turns(live, first)
    # Spot pools last: their pods are evicted in any case.
    for planned in sorted(pools, key=lambda planned: planned.pool.spot):
        after = [*turns.predecessors(planned.request), *rights]
        turns.note(planned.request, _agent_pool(name, planned, live, cluster, after, parent))


def _agent_pool(
    name: str,
    planned: PlannedPool,
    live: LiveCluster,
    cluster: ClusterOfPools,
    after: Sequence[pulumi.Resource],
    parent: pulumi.Resource,
) -> containerservice.AgentPool:
    """Declare one user pool.

    Its name is its identity, so a replacement deletes first. `azure_immutable_pools` refuses to
    replace an on-demand pool in use; only a former spot pool is replaced.
    """
    pool = planned.pool
    # AKS gives a pool the same properties in the cluster's list and by itself, but for the name
    # (REST API 2025-09-01).
    properties = {key: value for key, value in vars(planned.profile).items() if key != "name"}
    own_tags = properties.pop("tags", None) or {}
    return containerservice.AgentPool(
        f"{name}-{pool.name}",
        agent_pool_name=pool.name,
        resource_group_name=cluster.resource_group,
        resource_name_=cluster.name,
        vnet_subnet_id=cluster.subnet_id(settings_of(pool.source).subnet),
        tags=cluster.tags | own_tags | retries(live.profiles.get(pool.name)),
        **properties,
        opts=pulumi.ResourceOptions(
            parent=parent,
            replace_on_changes=[p.wire for p in azure_immutable_pools.PROPERTIES]
            if pool.spot
            else ["scaleSetPriority"],
            delete_before_replace=True,
            deleted_with=cluster.deleted_with,
            depends_on=list(after),
            ignore_changes=list(cluster.ignore_changes),
        ),
    )


def node_labels(pool: NodePool) -> dict[str, str]:
    """Return the known labels of AKS on a pool's nodes (a dump of v1.34.7; page use-labels)."""
    labels = {
        "agentpool": pool.name,
        "kubernetes.azure.com/agentpool": pool.name,
        "kubernetes.azure.com/mode": "user",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": pool.machine,
    }
    if pool.gpus:
        labels |= {"accelerator": "nvidia", "kubernetes.azure.com/accelerator": "nvidia"}
    return labels
