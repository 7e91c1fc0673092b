"""Machines of a drill over pools of a test, with no emulated cloud, and an API server that takes down what is sent."""

from collections.abc import Callable, Collection
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


class Server:
    """The API server: pods that are deleted or evicted are asked to end, and what is sent is taken down with its time."""

    def __init__(self, clock: Clock, *, evicts: bool = True) -> None:
        self._clock, self._evicts = clock, evicts
        self.seen: Callable[[Object | None, Object | None], None] = lambda before, after: None
        self.pods: dict[str, Object] = {}
        self.nodes: dict[str, Object] = {}
        self.sent: list[tuple[float, str, str]] = []

    def request(self, send: Callable[[Any], Any], *, missing: bool = False, in_turn: bool = False) -> None:
        send(self)

    def create(self, body: Object) -> Object:
        self.nodes[body["metadata"]["name"]] = body
        return body

    def get(self, version: str, kind: str, name: str, namespace: str = "") -> Object | None:
        return {"Node": self.nodes, "Pod": self.pods}[kind].get(name)

    def patch(self, version: str, kind: str, name: str, namespace: str, change: Object, part: str = "") -> Object:
        status = change.get("status") or {}
        for condition in status.get("conditions") or []:
            if condition["type"] in ("Ready", "DisruptionTarget") and "phase" not in status:
                self._note(f"{condition['type']} {condition['status']}", name)
        if "phase" in status:
            self._note(status["phase"], name)
        if kind == "Node" and "taints" in change.get("spec", {}) and name in self.nodes:
            self.nodes[name]["spec"] = change["spec"]
        return {}

    def delete(self, version: str, kind: str, name: str, namespace: str = "", *, at_once: bool = False) -> None:
        if kind == "Node":
            self.nodes.pop(name, None)
        elif at_once:
            self._note("gone", name)
            self.seen(self.pods.pop(name, {}), None)
        else:
            self._end(name)

    def evict(self, name: str, namespace: str, grace: int) -> bool:
        if self._evicts:
            self._end(name)
        return self._evicts

    def _end(self, name: str) -> None:
        self._note("asked to end", name)
        before = self.pods[name]
        going = {**before["metadata"], "deletionTimestamp": "now", "deletionGracePeriodSeconds": 30}
        self.pods[name] = {**before, "metadata": going}
        self.seen(before, self.pods[name])

    def _note(self, what: str, name: str) -> None:
        self.sent.append((self._clock.now, what, name))

    @property
    def told(self) -> list[str]:
        return [what for _, what, _ in self.sent]

    def times(self, what: str) -> list[float]:
        return [at for at, sent, _ in self.sent if sent == what]
