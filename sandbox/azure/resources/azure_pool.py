"""Agent pools: the body the service returns for a request.

Defaults are those of the azure-cli recording test_aks_create_spot_node_pool.yaml (real traffic, api 2025-07-01) and of the AKS
pages named beside them. What the service refuses is in `pool_rules`.
"""

from typing import Any

from sandbox.azure import azure_catalogue, azure_ids
from sandbox.azure.azure_catalogue import Machine, machines
from sandbox.azure.resources import azure_machine_rules, azure_pool_rules, cluster_pools_rules
from sandbox.azure.resources.azure_machine_rules import asks_trusted_launch
from sandbox.azure.resources.azure_requests import (
    CLUSTER,
    POOL,
    SPOT_LABEL,
    SPOT_TAINT,
    ClusterPools,
    PoolRequest,
    pools_of,
)
from sandbox.azure.resources.azure_resource_type import AzureType, merged, require_group, require_parent, type_named
from sandbox.cloud import rules
from sandbox.cloud.state import Body, Record, Resources

IMAGE = "AKSUbuntu-2204gen2containerd-202506.16.0"
TRUSTED_IMAGE = "AKSUbuntu-2204gen2TLcontainerd-202506.16.0"
"""AKS page use-trusted-launch: a pool made with a part of it has this image, also once both are switched off."""

_EPHEMERAL_FROM_GB = 128


def default_max_pods(network: Body) -> int:
    """Return 250 for overlay, 30 for legacy Azure CNI, 110 for kubenet (page concepts-network-ip-address-planning)."""
    if network.get("networkPlugin") == "azure":
        return 250 if network.get("networkPluginMode") == "overlay" else 30
    return 250 if network.get("networkPlugin") == "none" else 110


def managed_disk_gb(vcpus: int) -> int:
    """Return the size of a managed OS disk by vCPUs (AKS page concepts-storage)."""
    for least, size in ((64, 1024), (16, 512), (8, 256)):
        if vcpus >= least:
            return size
    return 128


def os_disk(body: Body, machine: Machine) -> tuple[str, int]:
    """Return type and GB of the OS disk (AKS page concepts-storage).

    Where the size of the temporary disk is not known, an unset type becomes Managed; an explicit Ephemeral is taken as
    fitting.
    """
    kind, size, temp = body.get("osDiskType"), body.get("osDiskSizeGB") or 0, machine.temp_disk_gb
    if kind is None:
        fits = temp is not None and temp >= max(_EPHEMERAL_FROM_GB, size)
        kind = "Ephemeral" if fits else "Managed"
    if size:
        return kind, size
    return kind, int(temp or _EPHEMERAL_FROM_GB) if kind == "Ephemeral" else managed_disk_gb(machine.vcpus)


def with_defaults(body: Body, cluster: Body) -> Body:
    """Return a pool's body with what the service adds."""
    spot = body.get("scaleSetPriority") == "Spot"
    trusted = asks_trusted_launch(body) or body.get("nodeImageVersion") == TRUSTED_IMAGE
    result: Body = {
        **type_named(POOL).service,
        "orchestratorVersion": cluster["kubernetesVersion"],
        "maxPods": 110 if body.get("podSubnetID") else default_max_pods(cluster["networkProfile"]),
        **body,
        "nodeImageVersion": TRUSTED_IMAGE if trusted else IMAGE,
        "provisioningState": "Succeeded",
    }
    result["currentOrchestratorVersion"] = _patch(body, result["orchestratorVersion"])
    result["osDiskType"], result["osDiskSizeGB"] = os_disk(body, machines()[result["vmSize"]])
    if not result["enableAutoScaling"]:
        result.pop("minCount", None)
        result.pop("maxCount", None)
    if spot:
        _make_spot(result)
    else:
        # Sent or not, a regular pool does not echo them.
        for name in ("scaleSetPriority", "scaleSetEvictionPolicy", "spotMaxPrice"):
            result.pop(name, None)
        result["upgradeSettings"] = {"maxSurge": "10%", "maxUnavailable": "0", **result.get("upgradeSettings", {})}
    return result


def _patch(body: Body, version: str) -> str:
    # The same alias again starts no upgrade, even if a newer patch exists (REST text of orchestratorVersion).
    current: str = body.get("currentOrchestratorVersion", "")
    if current and azure_catalogue.alias(current) == version:
        return current
    return azure_catalogue.patch(version) or version


def _make_spot(body: Body) -> None:
    # Added even when the request says `nodeTaints: []`.
    body["scaleSetEvictionPolicy"] = body.get("scaleSetEvictionPolicy", "Delete")
    body["spotMaxPrice"] = body.get("spotMaxPrice", -1)
    key, value = SPOT_LABEL
    body["nodeLabels"] = {**body["nodeLabels"], key: value}
    taints: list[Any] = body.get("nodeTaints", [])
    body["nodeTaints"] = taints if SPOT_TAINT in taints else [*taints, SPOT_TAINT]


def put_pool(
    resources: Resources,
    cluster: Body,
    name: str,
    wanted: Body,
    current: Body | None,
    *,
    inline: bool,
    first: bool = False,
) -> Body:
    """Return the pool's body after a request, checked; for inline entries and standalone pools alike. Raises `Refused`."""
    laid_over: Body = merged(current or {}, {k: v for k, v in wanted.items() if k != "name"})
    request = PoolRequest(name, wanted, current, laid_over, cluster, resources, inline, first)
    rules.raise_first(azure_pool_rules.SENT, request)
    request.body = with_defaults(laid_over, cluster)
    rules.raise_first(azure_pool_rules.RESULT, request)
    return request.body


class AgentPool(AzureType):
    """`Microsoft.ContainerService/managedClusters/agentPools`."""

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        require_group(resources, id)
        cluster = require_parent(resources, id, "managedClusters/agentPools")
        body = put_pool(resources, cluster.body, azure_ids.last(id), wanted, current, inline=False)
        body = {**body, "name": azure_ids.last(id)}
        cluster_pools_rules.check_pools(ClusterPools(cluster.body, [*_others(resources, id), body], resources))
        return body

    def check_delete(self, resources: Resources, id: str) -> None:
        cluster = resources.get(azure_ids.parent(id))
        if cluster is not None and cluster.token == CLUSTER:
            cluster_pools_rules.check_pools(
                ClusterPools(cluster.body, _others(resources, id), resources, deleting=True)
            )
            pool = resources.get(id)
            if pool and (refused := azure_machine_rules.dissociation(resources, cluster.body, pool.body)):
                raise refused


def _others(resources: Resources, id: str) -> list[Body]:
    return [
        pool.body for pool in pools_of(resources, azure_ids.parent(id)) if azure_ids.key(pool.id) != azure_ids.key(id)
    ]


def new_record(cluster_id: str, name: str, body: Body) -> Record:
    return Record(POOL, f"{cluster_id}/agentPools/{name}", {**body, "name": name})
