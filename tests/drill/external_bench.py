"""A drill without a cluster, in which a test plays the real cluster-autoscaler."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from drill.play.clock import Clock
from drill.play.external import External
from drill.play.machines import Machines
from drill.play.nodes import Nodes
from drill.play.source import Captured
from drill.world import node_groups, record
from sandbox.autoscaler.world import Decision, World
from sandbox.azure.scale_sets import SPOT as FACTS
from sandbox.cloud.node_groups import NodeGroup, NodeGroups
from sandbox.kubernetes.client import Object
from sandbox.tests.autoscaler.objects import on_demand, sized
from sandbox.tests.autoscaler.objects import spot as spot_group

GROUP = "cluster-autoscaler.kwok.nodegroup/name"
SPOT_GROUP, OD_GROUP = "aks-gpuspot-12345678-vmss", "aks-gpuod-12345678-vmss"
GROUPS = [spot_group(10), on_demand(4)]
MACHINE, ZONE = "Standard_NC4as_T4_v3", "westeurope-1"
NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
GOING = {"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}
FIRST = f"{OD_GROUP}000000"


def placed(group: NodeGroup, capacity: str) -> NodeGroup:
    labels = {node_groups.CAPACITY: capacity, node_groups.MACHINE: MACHINE, node_groups.ZONE: ZONE}
    group.template["metadata"]["labels"].update(labels)
    return group


class Bench:
    """A drill without a cluster: nodes are kept here, and the program does what a test says."""

    def __init__(self) -> None:
        self.groups = [placed(spot_group(10), "spot"), placed(sized(on_demand(4), 1), "on-demand")]
        self.cluster: dict[str, Object] = {}
        self.policies: dict[str, Object] = {}
        self.said: list[Decision] = []
        self.first_words: list[Decision] = []
        """What the program says as soon as it starts."""
        self.calls: list[str] = []
        self.pending: list[Callable[[Any], Any]] = []
        self.events: list[record.Event] = []
        profile = {"maxNodeProvisionTime": "1m"}
        nothing = SimpleNamespace(
            node_groups=lambda cluster: NodeGroups(self.groups, profile),
            get=lambda pool: {},
            remove=lambda pool, names: None,
            apply_nodes=lambda cluster: None,
        )
        self.clock = Clock()
        captured = Captured()
        captured.nodes = {FIRST: {**self.groups[1].template, "metadata": {"name": FIRST, "labels": {}}}}
        self.machines = Machines(nothing, "cluster", self.clock, captured, 20.0, FACTS)  # type: ignore[arg-type]
        observed: Any = SimpleNamespace(request=self._request, flush=self.flush)
        self.nodes = Nodes(self.clock, observed, self, self.machines, None, FACTS)  # type: ignore[arg-type]
        self.external = External(self, self.clock, observed, self, self.machines, self.nodes, self.events)  # type: ignore[arg-type]
        self.machines.begin()
        self.clock.at(0, self.scan)

    def scan(self) -> None:
        world = World(groups=self.groups, nodes=list(self.cluster.values()), pods=[], since={})
        self.clock.at(self.external.scan(self.clock.now, world, None), self.scan)  # type: ignore[arg-type]

    def run(self, until: float) -> Bench:
        self.clock.run(until, self.flush)
        return self

    def at(self, when: float, act: Callable[[], Any]) -> None:
        self.clock.at(when, act)

    def make(self, *names: str, group: str = SPOT_GROUP) -> None:
        """Make nodes, as the program does."""
        for name in names:
            conditions = [{"type": "Ready", "status": "False"}]
            metadata = {"name": name, "labels": {}, "annotations": {GROUP: group}}
            spec = {"taints": [NOT_READY]}
            self.cluster[name] = {"metadata": metadata, "spec": spec, "status": {"conditions": conditions}}

    def says(self, action: str, group: str, pool: str, **more: Any) -> None:
        self.said.append(Decision(time.time(), action, group, pool, **more))  # type: ignore[arg-type]

    # The program.
    def start(self) -> None:
        self.calls.append(f"start with {len(self.cluster)}")
        self.said = list(self.first_words)

    def stop(self) -> None:
        self.calls.append("stop")

    def require_running(self) -> None:
        pass

    def decisions(self) -> list[Decision]:
        return list(self.said)

    # The API server.
    def _request(self, request: Callable[[Any], Any], *, missing: bool = False, in_turn: bool = False) -> None:
        self.pending.append(request)

    def flush(self) -> None:
        requests, self.pending = self.pending, []
        for request in requests:
            request(self)

    def create(self, body: Object) -> Object:
        self.cluster[body["metadata"]["name"]] = body
        return body

    def get(self, version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        return self.cluster.get(name)

    def patch(self, version: str, kind: str, name: str, space: None, change: Object, part: str = "") -> Object | None:
        body = self.cluster.get(name)
        if body is not None and part:
            body["status"] = {**body["status"], **change["status"]}
        elif body is not None:
            body["spec"] = {**body["spec"], **change["spec"]}
        return body

    def delete(self, version: str, kind: str, name: str) -> None:
        (self.cluster if kind == "Node" else self.policies).pop(name if kind == "Node" else kind, None)

    def apply(self, body: Object, manager: str, *, force: bool) -> None:
        self.policies[body["kind"]] = body

    def ready(self, name: str) -> bool:
        taints = [taint["key"] for taint in self.cluster[name]["spec"].get("taints") or ()]
        return self.cluster[name]["status"]["conditions"][-1]["status"] == "True" and NOT_READY["key"] not in taints

    def made(self, name: str) -> record.Node:
        return next(node for node in self.machines.all if node.name == name)
