"""The node pools of a stack in memory, in place of a copy of its emulated cloud: sizes within bounds, and the nodes' objects."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import count
from typing import Any

from drill.in_memory.stack import Stack
from drill.play.captured import Captured
from drill.world.zones import rezoned
from sandbox.autoscaler import devices
from sandbox.cloud.node_groups import NodeGroup, NodeGroups, ScaleRefused


def _without_gpus(template: dict[str, Any]) -> dict[str, Any]:
    """A node as it registers: of the nominal size that the autoscaler expects, whose GPUs the device plugin is yet to report."""
    sizes = {
        part: {
            key: value
            for key, value in template["status"][part].items()
            if not key.startswith(devices.PREFIX)
        }
        for part in ("capacity", "allocatable")
    }
    return {**template, "status": {**template["status"], **sizes}}


class Pools:
    """What a drill asks of an emulated cloud. Quotas and subnets are left out: they are the stack's, not the work's."""

    def __init__(self, stack: Stack, captured: Captured) -> None:
        self._stack, self._captured = stack, captured
        self._groups: dict[str, NodeGroup] = {group.pool_id: group for group in stack.groups}
        self._numbers = count()
        self._all: NodeGroups | None = None

    def node_groups(self, cluster: str) -> NodeGroups:
        """The pools as they are now."""
        if self._all is None:
            self._all = NodeGroups(list(self._groups.values()), self._stack.profile)
        return self._all

    def get(self, pool_id: str) -> dict[str, Any]:
        """What a drill reads of a pool's body."""
        pool = self._groups[pool_id].pool
        policy = "Deallocate" if pool in self._stack.kept else "Delete"
        return {"nodeLocations": list(self._stack.zones[pool]), "scaleSetEvictionPolicy": policy}

    def apply_nodes(self, cluster: str) -> None:
        """Make the nodes of pools that have none yet."""
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
        """Cut a pool to a size, below its minimum by `force`."""
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
        zone = zones[
            len([each for each in self._captured.nodes if each.startswith(group.pool)]) % len(zones)
        ]
        body = _without_gpus(group.template)
        metadata = {**body["metadata"], "name": name}
        named = {**body, "apiVersion": "v1", "kind": "Node", "metadata": metadata}
        labels = {**metadata["labels"], "kubernetes.io/hostname": name}
        self._captured.nodes[name] = rezoned(
            {**named, "metadata": {**metadata, "labels": labels}}, zone
        )
