"""The node pools of a stack in memory, in place of a copy of its emulated cloud."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import count
from typing import Any

from drill.in_memory.stack import Stack
from drill.play.source import Captured
from drill.world.node_groups import rezoned
from sandbox.autoscaler import devices
from sandbox.cloud.node_groups import NodeGroup, NodeGroups, ScaleRefused


def _without_gpus(template: dict[str, Any]) -> dict[str, Any]:
    """Return a node as it registers: the device plugin reports its GPUs later."""
    status = dict(template["status"])
    for part in ("capacity", "allocatable"):
        sizes = status[part].items()
        status[part] = {key: size for key, size in sizes if not key.startswith(devices.PREFIX)}
    return {**template, "status": status}


class MemoryCloud:
    """The calls of a drill to an emulated cloud: `MemoryCloud(stack, captured).grow("t4", 2)`.

    It has no quotas and no subnets.
    """

    def __init__(self, stack: Stack, captured: Captured) -> None:
        self._stack, self._captured = stack, captured
        self._groups: dict[str, NodeGroup] = {group.pool_id: group for group in stack.groups}
        self._numbers = count()
        self._all: NodeGroups | None = None

    def node_groups(self, cluster: str) -> NodeGroups:
        """Return the pools as they are now."""
        if self._all is None:
            self._all = NodeGroups(list(self._groups.values()), self._stack.profile)
        return self._all

    def get(self, pool_id: str) -> dict[str, Any]:
        """Return what a drill reads of a pool's body."""
        pool = self._groups[pool_id].pool
        policy = "Deallocate" if pool in self._stack.kept else "Delete"
        return {"nodeLocations": list(self._stack.zones[pool]), "scaleSetEvictionPolicy": policy}

    def apply_nodes(self, cluster: str) -> None:
        """Make the nodes of pools that lack them."""
        for group in self._groups.values():
            for name in group.nodes:
                self._make(group, name)

    def grow(self, pool_id: str, by: int) -> None:
        """Add nodes. Raises ScaleRefused beyond the pool's maximum."""
        group = self._groups[pool_id]
        if group.most is None or len(group.nodes) + by > group.most:
            raise ScaleRefused(f"pool {group.pool} may have {group.most} nodes")
        names = [f"{group.pool}-{next(self._numbers):05}" for _ in range(by)]
        self._put(replace(group, nodes=(*group.nodes, *names)))
        for name in names:
            self._make(group, name)

    def remove(self, pool_id: str, nodes: Collection[str]) -> None:
        """Remove nodes by name. Raises ScaleRefused below the pool's minimum."""
        group = self._groups[pool_id]
        left = tuple(name for name in group.nodes if name not in nodes)
        if len(left) < (group.least or 0):
            raise ScaleRefused(f"pool {group.pool} has {group.least} nodes at least")
        self._drop(replace(group, nodes=left), nodes)

    def scale(self, cluster: str, pool: str, count: int, *, force: bool = False) -> None:
        """Cut a pool to a size, even below its minimum."""
        group = next(each for each in self._groups.values() if each.pool == pool)
        self._drop(replace(group, nodes=group.nodes[:count]), group.nodes[count:])

    def _drop(self, group: NodeGroup, names: Collection[str]) -> None:
        self._put(group)
        for name in names:
            self._captured.nodes.pop(name, None)

    def _put(self, group: NodeGroup) -> None:
        self._groups[group.pool_id] = group
        self._all = None

    def _make(self, group: NodeGroup, name: str) -> None:
        if name in self._captured.nodes:
            return
        zones = self._stack.zones[group.pool]
        number = sum(each.startswith(group.pool) for each in self._captured.nodes)
        body = _without_gpus(group.template)
        labels = {**body["metadata"]["labels"], "kubernetes.io/hostname": name}
        metadata = {**body["metadata"], "name": name, "labels": labels}
        node = {**body, "apiVersion": "v1", "kind": "Node", "metadata": metadata}
        self._captured.nodes[name] = rezoned(node, zones[number % len(zones)])
