"""Node pools as AKS holds them: pure translations, and the resource that is declared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from components import upgrades
from components.azure import immutable_pools
from components.azure.live import LiveCluster, retries
from components.azure.types import AGENT_POOL
from components.resources import Declared
from config.clouds.azure.traits import aks
from config.model.pool import Capacity, OsDisk, SystemPool, Upgrade
from config.placement.node_pools import CAPACITY_LABEL, CRITICAL_ADDONS_TAINT, POOL_LABEL, NodePool

_SURGE = Upgrade(maxSurge="10%", maxUnavailable="0")
"""AKS' default for new pools (page upgrade-aks-node-pools-rolling); sent, because a pool keeps what a request leaves out."""


def system_profile(pool: SystemPool, version: str, live: LiveCluster, *, at_host: bool = False) -> dict[str, Any]:
    """The system pool as the one entry of the cluster's `agentPoolProfiles`, without its subnet; `version` is the
    cluster's."""
    machine = aks().machine(pool.machine)
    # System pools take no maxUnavailable (same page as above).
    surge = pool.upgrade.max_surge if pool.upgrade else _SURGE.max_surge
    return {
        "name": pool.name,
        "mode": "System",
        "vmSize": machine.size if machine else pool.machine,
        "orchestratorVersion": version,
        **_autoscaled(pool, live),
        "nodeLabels": {CAPACITY_LABEL: Capacity.ON_DEMAND.value, POOL_LABEL: pool.name},
        "nodeTaints": [str(CRITICAL_ADDONS_TAINT)] if pool.critical_addons_only else [],
        "availabilityZones": sorted(pool.zones) or None,
        **_machine_options(pool.os_disk, pool.max_pods, at_host),
        "upgradeSettings": {"maxSurge": surge},
    }


def agent_pool(pool: NodePool, version: str | None, live: LiveCluster, *, at_host: bool = False) -> dict[str, Any]:
    """What a user pool asks of AKS, whatever cluster it is in.

    `version` is the cluster's: a pool that names none keeps the one it was made with when the cluster is upgraded. None in
    a cluster that somebody else upgrades.
    """
    source = pool.source
    args: dict[str, Any] = {
        "agentPoolName": pool.name,
        "mode": "User",
        "vmSize": pool.machine,
        "orchestratorVersion": version,
        **_autoscaled(pool, live, pool.label),
        "nodeLabels": dict(pool.labels),
        "nodeTaints": [str(taint) for taint in pool.taints],
        "availabilityZones": list(pool.zones) or None,
        **_machine_options(source.os_disk, source.max_pods, at_host),
        "tags": retries(live.profiles.get(pool.name)),
    }
    if source.mig:
        args["gpuInstanceProfile"] = f"MIG{source.mig}"
    if pool.gpus and not source.install_driver:
        args["gpuProfile"] = {"driver": "None"}
    if pool.spot:
        # No upgrade settings: AKS answers 400 to maxSurge and maxUnavailable on spot pools (terraform-provider-azurerm
        # pull request 31129).
        return args | {
            "scaleSetPriority": "Spot",
            "scaleSetEvictionPolicy": pool.spot.eviction_policy,
            "spotMaxPrice": pool.spot.max_price,
        }
    return args | {"upgradeSettings": _both(upgrades.of(pool, _SURGE))}


def _both(upgrade: Upgrade) -> dict[str, str]:
    """Both knobs: one that is left out keeps its value, and together above 0 they are a preview feature (same page)."""
    return {"maxSurge": upgrade.max_surge or "0", "maxUnavailable": upgrade.max_unavailable or "0"}


def _machine_options(disk: OsDisk, max_pods: int | None, at_host: bool) -> dict[str, Any]:
    options = {
        "osDiskType": disk.type,
        "osDiskSizeGB": disk.size_gb,
        "maxPods": max_pods,
        "enableEncryptionAtHost": at_host or None,
    }
    return {key: value for key, value in options.items() if value is not None}


def _autoscaled(pool: SystemPool | NodePool, live: LiveCluster, label: str = "") -> dict[str, Any]:
    return {
        "enableAutoScaling": True,
        "count": live.count(pool.name, pool.min_nodes, pool.max_nodes, label),
        "minCount": pool.min_nodes,
        "maxCount": pool.max_nodes,
        "osType": "Linux",
        # Unset, preflight checks refuse spot pools for a surge nobody asked for (Azure/bicep-types-az issue 2217).
        "type": "VirtualMachineScaleSets",
    }


_WRITABLE = (
    "name",
    "mode",
    "type",
    "vmSize",
    "osType",
    "osSKU",
    "orchestratorVersion",
    "count",
    "enableAutoScaling",
    "minCount",
    "maxCount",
    "maxPods",
    "osDiskType",
    "osDiskSizeGB",
    "kubeletDiskType",
    "nodeLabels",
    "nodeTaints",
    "availabilityZones",
    "vnetSubnetID",
    "podSubnetID",
    "enableEncryptionAtHost",
    "enableNodePublicIP",
    "enableUltraSSD",
    "enableFIPS",
    "tags",
    "scaleSetPriority",
    "scaleSetEvictionPolicy",
    "spotMaxPrice",
    "gpuInstanceProfile",
    "gpuProfile",
    "upgradeSettings",
    "scaleDownMode",
    "kubeletConfig",
    "linuxOSConfig",
    "workloadRuntime",
    "proximityPlacementGroupID",
    "securityProfile",
    "powerState",
)
"""What a request may say of a pool (REST API 2025-09-01, ManagedClusterAgentPoolProfile)."""


def listed(live: LiveCluster) -> list[dict[str, Any]]:
    """The cluster's pools as its GET lists them, to be said again: all with the version they have."""
    return [
        {name: profile[name] for name in _WRITABLE if profile.get(name) is not None}
        for profile in live.profiles.values()
    ]


@dataclass(frozen=True)
class Wanted:
    """A user pool as the stack file wants it, known before anything is declared."""

    pool: NodePool
    args: dict[str, Any]
    """Those of `agent_pool`."""
    subnet: str | None
    """Its subnet's id, or the end of the id; None for AKS' own network."""

    @property
    def request(self) -> dict[str, Any]:
        """The arguments that a live pool is compared with."""
        return self.args | {"vnetSubnetID": self.subnet}


class Turns:
    """What a pool waits for; spot pools are declared last.

    AKS fails to make two pools of one virtual network at the same time (SetVNetOwnershipFailed, Azure/AKS issue 4522;
    terraform-provider-azurerm pull request 32682): those that are made wait for each other. Of those that exist, only an
    upgrade of a spot pool waits for the on-demand ones, so that a refused pool holds up no other change.
    """

    def __init__(self, live: LiveCluster, first: Sequence[pulumi.Resource] = ()) -> None:
        """`first`: what every pool waits for."""
        self._live = live
        self._first = list(first)
        self._last_made: pulumi.Resource | None = None
        self._upgraded: list[pulumi.Resource] = []

    def before(self, request: Mapping[str, Any]) -> list[pulumi.Resource]:
        """What AKS must have done before this request."""
        if self._is_made(request):
            return [self._last_made] if self._last_made else self._first
        spot = request.get("scaleSetPriority") == "Spot"
        return [*self._first, *(self._upgraded if spot and self._is_upgraded(request) else [])]

    def took(self, request: Mapping[str, Any], pool: pulumi.Resource) -> None:
        """Notes that a pool was declared with this request."""
        if self._is_made(request):
            self._last_made = pool
        elif self._is_upgraded(request):
            self._upgraded.append(pool)

    def _is_made(self, request: Mapping[str, Any]) -> bool:
        live = self._live.profiles.get(request["agentPoolName"])
        return live is None or immutable_pools.differs(request, live)

    def _is_upgraded(self, request: Mapping[str, Any]) -> bool:
        live = self._live.profiles.get(request["agentPoolName"], {})
        return request["orchestratorVersion"] not in (None, live.get("orchestratorVersion"))


def declare_all(
    name: str,
    pools: Iterable[Wanted],
    live: LiveCluster,
    *,
    subnet_id: Callable[[str | None], pulumi.Input[str] | None],
    first: Sequence[pulumi.Resource] = (),
    **options: Any,
) -> None:
    """All user pools, each in its turn. `subnet_id`: by a pool's `subnet`; `first`: what every pool waits for; `options`: as
    of `declare`.
    """
    turns = Turns(live, first)
    for wanted in sorted(pools, key=_evictable_last):
        declared = declare(
            name,
            wanted.pool,
            wanted.args,
            subnet_id=subnet_id(wanted.pool.source.subnet),
            after=turns.before(wanted.request),
            **options,
        )
        turns.took(wanted.request, declared)


def _evictable_last(wanted: Wanted) -> bool:
    """Spot pools last: an upgrade reaches them, which are evicted in any case, after the others."""
    return wanted.pool.spot is not None


def declare(
    name: str,
    pool: NodePool,
    args: dict[str, Any],
    *,
    resource_group: pulumi.Input[str],
    cluster: pulumi.Input[str],
    subnet_id: pulumi.Input[str] | None,
    tags: dict[str, str],
    parent: pulumi.Resource,
    deleted_with: pulumi.Resource | None = None,
    ignore_changes: Sequence[str] = (),
    after: Sequence[pulumi.Resource] = (),
) -> Declared:
    """One user pool of the cluster with that name; `args` are those of `agent_pool`, `after` what AKS must have done before.

    Its name is its identity, so a replacement deletes first. An on-demand pool in use is not replaced: `immutable_pools` refuses
    that, and only one that was a spot pool until now gives way.
    """
    replaced = [p.wire for p in immutable_pools.PROPERTIES] if pool.spot else ["scaleSetPriority"]
    return Declared(
        AGENT_POOL,
        f"{name}-{pool.name}",
        {
            "resourceGroupName": resource_group,
            "resourceName": cluster,
            "vnetSubnetID": subnet_id,
            **args,
            "tags": tags | args["tags"],
        },
        pulumi.ResourceOptions(
            parent=parent,
            replace_on_changes=replaced,
            delete_before_replace=True,
            deleted_with=deleted_with,
            depends_on=list(after),
            ignore_changes=list(ignore_changes),
        ),
        outputs=(),
    )


def node_labels(pool: NodePool) -> dict[str, str]:
    """The known ones among the labels that AKS puts on a pool's nodes (a dump of v1.34.7; page use-labels)."""
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
