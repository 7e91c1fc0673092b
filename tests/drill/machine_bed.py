"""Machines of a drill over pools of a test, with no emulated cloud."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from drill.play.clock import Clock
from drill.play.machines import Machines
from drill.play.source import Captured
from drill.world import record
from sandbox.cloud.node_groups import Gpus, NodeGroup, NodeGroups, ScaleRefused
from sandbox.cluster import plugins
from sandbox.kubernetes.client import Object

AZURE, GCP = plugins.plugin("azure").spot, plugins.plugin("gcp").spot


def group(pool: str, capacity: str, least: int = 0, most: int = 6) -> NodeGroup:
    labels = {
        "kubeflow-spot.dev/capacity": capacity,
        "kubeflow-spot.dev/pool": pool,
        "topology.kubernetes.io/region": "eu",
        "node.kubernetes.io/instance-type": "NC4",
    }
    template = {"metadata": {"labels": labels}, "spec": {}, "status": {}}
    return NodeGroup(f"aks-{pool}", pool, pool, least, most, (), template, Gpus(1))


class Cloud:
    """A cloud of two pools, one of them over two zones."""

    def __init__(self, captured: Captured, policy: str = "Delete") -> None:
        self._captured, self._policy = captured, policy
        self.groups = {"t4": group("t4", "spot"), "t4od": group("t4od", "on-demand", 1)}
        self._number = 0
        self.grow("t4od", 2)

    def node_groups(self, cluster: str) -> NodeGroups:
        return NodeGroups(list(self.groups.values()))

    def get(self, pool: str) -> Object:
        zones = {"availabilityZones": ["1", "2"]} if pool == "t4" else {}
        return {**zones, "scaleSetEvictionPolicy": self._policy}

    def grow(self, pool: str, by: int) -> None:
        names = [f"{pool}-{self._number + number}" for number in range(by)]
        self._number += by
        self._resize(pool, (*self.groups[pool].nodes, *names))

    def remove(self, pool: str, nodes: Collection[str]) -> None:
        left = tuple(name for name in self.groups[pool].nodes if name not in nodes)
        if len(left) < (self.groups[pool].least or 0):
            raise ScaleRefused("below the minimum")
        self._resize(pool, left)

    def scale(self, cluster: str, pool: str, count: int, *, force: bool) -> None:
        self._resize(pool, self.groups[pool].nodes[-count:] if count else ())

    def apply_nodes(self, cluster: str) -> None:
        pools = self.groups.values()
        bodies = [(name, each.template["metadata"]["labels"]) for each in pools for name in each.nodes]
        zoned = [(name, {**labels, "topology.kubernetes.io/zone": "eu-1"}) for name, labels in bodies]
        self._captured.apply_nodes(cluster, [{"metadata": {"name": name, "labels": labels}} for name, labels in zoned])

    def _resize(self, pool: str, names: tuple[str, ...]) -> None:
        self.groups[pool] = replace(self.groups[pool], nodes=names)
        self.apply_nodes("")


class Bed:
    """Machines with a clock; `joined` has the names and zones of nodes as they register."""

    def __init__(self, facts: Any = AZURE, policy: str = "Delete", limit: int | None = None) -> None:
        captured = Captured()
        self.clock, self.cloud = Clock(), Cloud(captured, policy)
        self.machines = Machines(self.cloud, "c", self.clock, captured, 100.0, facts)  # type: ignore[arg-type]
        self.joined: list[tuple[float, str, str]] = []
        self.machines.join = self._join
        self.machines.begin()
        if limit is not None:
            self.limit(limit)

    def limit(self, nodes: int | None) -> None:
        """Change the capacity of both zones."""
        for zone in ("eu-1", "eu-2"):
            self.machines.set_limit("NC4", zone, nodes)

    @property
    def lives(self) -> list[record.Node]:
        """All machines of the spot pool, in their order."""
        return [node for node in self.machines.all if node.pool == "t4"]

    def lose_all(self) -> None:
        """Take the spot machines, as the cloud does."""
        self.machines.lose(self.machines.group("t4").nodes, "evicted")

    def _join(self, node: Object) -> None:
        zone = node["metadata"]["labels"]["topology.kubernetes.io/zone"]
        self.joined.append((self.clock.now, node["metadata"]["name"], zone))

    def grow(self, by: int, pool: str = "t4") -> None:
        self.machines.grow(self.machines.group(pool), by)

    def until(self, time: float) -> None:
        self.clock.run(time, lambda: None)

    @property
    def zones(self) -> list[str]:
        return [zone for _, name, zone in self.joined if name.startswith("t4-")]
