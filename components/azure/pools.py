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
from config.clouds.azure.pool import OsDisk, settings_of, spot_of
from config.model.pool import Upgrade
from config.placement.node_pools import NodePool, Role

_SURGE = Upgrade(maxSurge="10%", maxUnavailable="0")
"""AKS' default for new pools (page upgrade-aks-node-pools-rolling); sent, because a pool keeps what a request leaves out."""


_UNDRAINABLE = "Cordon"
"""By default (`Schedule`) an upgrade fails at a node that cannot be drained, such as under a PodDisruptionBudget that allows no
eviction, and the pool stays unpatched. With `Cordon` AKS cordons that node, labels it `kubernetes.azure.com/upgrade-status:
Quarantined`, puts a surge node in its place and goes on (page upgrade-options; REST 2025-09-01, UndrainableNodeBehavior)."""

_MODES = {Role.SYSTEM: "System", Role.USER: "User"}


def system_profile(pool: NodePool, version: str | None, live: LiveCluster, *, at_host: bool = False) -> dict[str, Any]:
    """The system pool as the one entry of the cluster's `agentPoolProfiles`, without its subnet; `version` is the
    cluster's."""
    return {"name": pool.name, **_settings(pool, version, live, at_host)}


def agent_pool(pool: NodePool, version: str | None, live: LiveCluster, *, at_host: bool = False) -> dict[str, Any]:
    """The arguments of a user pool's AgentPool, in any cluster.

    `version` is the cluster's: a pool that names none keeps its first version when the cluster is upgraded. None in an existing
    cluster, which its owner upgrades.
    """
    return {
        "agentPoolName": pool.name,
        **_settings(pool, version, live, at_host),
        "tags": retries(live.profiles.get(pool.name)),
    }


def _settings(pool: NodePool, version: str | None, live: LiveCluster, at_host: bool) -> dict[str, Any]:
    """A pool of any role, without its name."""
    source = pool.source
    args: dict[str, Any] = {
        "mode": _MODES[pool.role],
        "vmSize": pool.machine,
        "orchestratorVersion": version,
        "enableAutoScaling": True,
        "count": live.count(pool.name, pool.min_nodes, pool.max_nodes, pool.label),
        "minCount": pool.min_nodes,
        "maxCount": pool.max_nodes,
        "osType": "Linux",
        # Unset, preflight checks refuse spot pools for a surge that no request has (Azure/bicep-types-az issue 2217).
        "type": "VirtualMachineScaleSets",
        "nodeLabels": dict(pool.labels),
        "nodeTaints": [str(taint) for taint in pool.taints],
        "availabilityZones": list(pool.zones) or None,
        **_machine_options(settings_of(source).os_disk, source.max_pods, at_host),
        **immutable_pools.trusted_launch(pool, live),
    }
    if pool.reservation:
        args["capacityReservationGroupID"] = pool.reservation
    if pool.mig:
        args["gpuInstanceProfile"] = f"MIG{pool.mig}"
    if pool.gpus and not pool.install_driver:
        args["gpuProfile"] = {"driver": "None"}
    if pool.spot:
        # No upgrade settings: AKS answers 400 to maxSurge and maxUnavailable on spot pools (terraform-provider-azurerm
        # pull request 31129), and no source says that a pool without surge nodes may cordon what it cannot drain.
        return args | {
            "scaleSetPriority": "Spot",
            "scaleSetEvictionPolicy": spot_of(source).eviction_policy,
            "spotMaxPrice": spot_of(source).max_price,
        }
    upgrade = upgrades.of(pool, _SURGE)
    # System pools take no maxUnavailable (same page as above).
    nodes_at_once = {"maxSurge": upgrade.max_surge} if pool.role == Role.SYSTEM else _both(upgrade)
    return args | {"upgradeSettings": {**nodes_at_once, "undrainableNodeBehavior": _UNDRAINABLE}}


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
    "capacityReservationGroupID",
    "upgradeSettings",
    "scaleDownMode",
    "kubeletConfig",
    "linuxOSConfig",
    "workloadRuntime",
    "proximityPlacementGroupID",
    "securityProfile",
    "powerState",
)
"""Properties of a pool that a request may have (REST API 2025-09-01, ManagedClusterAgentPoolProfile)."""


def listed(live: LiveCluster) -> list[dict[str, Any]]:
    """The cluster's pools as its GET lists them, each with its own version, to be sent again."""
    return [
        {name: profile[name] for name in _WRITABLE if profile.get(name) is not None}
        for profile in live.profiles.values()
    ]


@dataclass(frozen=True)
class PlannedPool:
    """A user pool of the stack file, known before any resource is declared."""

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
    """The order in which pools are made; spot pools are declared last.

    AKS fails to make two pools of one virtual network at the same time (SetVNetOwnershipFailed, Azure/AKS issue 4522;
    terraform-provider-azurerm pull request 32682): those that are made wait for each other. Of those that exist, only an
    upgrade of a spot pool waits for the on-demand ones, so that a refused pool holds up no other change.
    """

    def __init__(self, live: LiveCluster, first: Sequence[pulumi.Resource] = ()) -> None:
        """`first`: resources that every pool waits for."""
        self._live = live
        self._first = list(first)
        self._last_created: pulumi.Resource | None = None
        self._upgraded: list[pulumi.Resource] = []

    def before(self, request: Mapping[str, Any]) -> list[pulumi.Resource]:
        """Pools that AKS must have finished before this request."""
        if self._is_created(request):
            return [self._last_created] if self._last_created else self._first
        spot = request.get("scaleSetPriority") == "Spot"
        return [*self._first, *(self._upgraded if spot and self._is_upgraded(request) else [])]

    def took(self, request: Mapping[str, Any], pool: pulumi.Resource) -> None:
        """Notes that a pool was declared with this request."""
        if self._is_created(request):
            self._last_created = pool
        elif self._is_upgraded(request):
            self._upgraded.append(pool)

    def _is_created(self, request: Mapping[str, Any]) -> bool:
        live = self._live.profiles.get(request["agentPoolName"])
        return live is None or immutable_pools.differs(request, live)

    def _is_upgraded(self, request: Mapping[str, Any]) -> bool:
        live = self._live.profiles.get(request["agentPoolName"], {})
        return request["orchestratorVersion"] not in (None, live.get("orchestratorVersion"))


def declare_all(
    name: str,
    pools: Iterable[PlannedPool],
    live: LiveCluster,
    *,
    subnet_id: Callable[[str | None], pulumi.Input[str] | None],
    first: Sequence[pulumi.Resource] = (),
    rights: Sequence[pulumi.Resource] = (),
    **options: Any,
) -> None:
    """All user pools, each in its turn.

    `subnet_id`: by a pool's `subnet`; `first`: resources that every pool waits for; `rights`: role assignments that AKS uses
    until a pool is gone, at its subnet and its reservation; `options`: as of `declare`.
    """
    turns = Turns(live, first)
    for planned in sorted(pools, key=_evictable_last):
        declared = declare(
            name,
            planned.pool,
            planned.args,
            subnet_id=subnet_id(settings_of(planned.pool.source).subnet),
            after=[*turns.before(planned.request), *rights],
            **options,
        )
        turns.took(planned.request, declared)


def _evictable_last(planned: PlannedPool) -> bool:
    """Spot pools last: an upgrade reaches them, which are evicted in any case, after the others."""
    return planned.pool.spot


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
    """One user pool of the cluster with that name; `args` are those of `agent_pool`, `after` are resources to wait for.

    Its name is its identity, so a replacement deletes first. An on-demand pool in use is not replaced: `immutable_pools` refuses
    that, and replaces only a pool that was a spot pool until now.
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
