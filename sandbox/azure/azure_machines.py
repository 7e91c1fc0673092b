"""The machines and nodes of a cluster (`node_groups.Machines` and `NodeView`): of pools in scale sets, else of their own."""

from collections.abc import Collection
from typing import Any

from sandbox.azure import provisioned, scale_sets
from sandbox.azure.resources.azure_requests import MACHINES
from sandbox.azure.scale_sets import bounds, capacity, profile, remove, resize, settle, size
from sandbox.cloud.node_groups import NodeGroup
from sandbox.cloud.state import Record, Resources

__all__ = ["bounds", "capacity", "group", "nodes", "profile", "remove", "resize", "settle", "size", "take", "zones"]


def take(resources: Resources, pool: Record, nodes: Collection[str]) -> None:
    if pool.token == MACHINES:
        provisioned.take(resources, pool, nodes)
    else:
        scale_sets.take(resources, pool, nodes)


def zones(resources: Resources, pool: Record) -> dict[str, str]:
    return provisioned.zones(pool) if pool.token == MACHINES else scale_sets.zones(resources, pool)


def nodes(resources: Resources, cluster: Record, pool: Record) -> list[dict[str, Any]]:
    if pool.token == MACHINES:
        return provisioned.nodes(cluster, scale_sets.shown(cluster), pool)
    return scale_sets.nodes(resources, cluster, pool)


def group(resources: Resources, cluster: Record, pool: Record) -> NodeGroup:
    if pool.token == MACHINES:
        return provisioned.group_view(cluster, scale_sets.shown(cluster), pool)
    return scale_sets.group(resources, cluster, pool)
