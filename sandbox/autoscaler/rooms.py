"""Rooms: what nodes have left for pods, those that exist and those that would come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from sandbox.autoscaler.fit import misfit, reports_ready
from sandbox.autoscaler.neighbours import Tally
from sandbox.autoscaler.shapes import Amounts, Object, PodInfo, Shape
from sandbox.autoscaler.snapshot import Node, Snapshot

HOSTNAME = "kubernetes.io/hostname"


@dataclass(eq=False)
class Room:
    """What a node, existing or not, has left for pods; `free` shrinks as pods are placed."""

    name: str
    labels: Mapping[str, str]
    taints: Sequence[Object]
    free: Amounts
    full: Amounts = field(default_factory=dict)
    """What it has free while it is new."""
    tally: Tally | None = None
    """The bonds of its pods; None where they have none."""

    def refusal(self, shape: Shape) -> str:
        """Return the reason why a pod does not fit, other pods' rules apart; empty when it fits."""
        if reason := misfit(shape.spec, self.name, self.labels, self.taints):
            return reason
        lacking = shape.lacking(self.free)
        if lacking:
            return f"too little {lacking}"
        return "its host port is taken" if self._blocks(shape) else ""

    def takes(self, shape: Shape) -> int:
        """Return how many pods of a shape fit, other pods' rules apart."""
        count = shape.times(self.free)
        if not count or misfit(shape.spec, self.name, self.labels, self.taints) or self._blocks(shape):
            return 0
        return count

    def take(self, shape: Shape, count: int = 1) -> None:
        """Place pods of a shape; a negative number takes them away."""
        free = self.free
        for name, asked in shape.requests.items():
            free[name] = free.get(name, 0) - asked * count
        if shape.bonds is not None:
            self.tally = self.tally or Tally()
            self.tally.add(shape.bonds, count)

    def another(self, name: str) -> Room:
        """Return a further node like this one, with an account of its own."""
        tally = self.tally.copy() if self.tally else None
        return replace(self, name=name, labels={**self.labels, HOSTNAME: name}, free=dict(self.free), tally=tally)

    def _blocks(self, shape: Shape) -> bool:
        return shape.bonds is not None and self.tally is not None and self.tally.blocks(shape.bonds.rules.ports)


@dataclass
class Placement:
    """Where the waiting pods of a scan go."""

    left: list[PodInfo] = field(default_factory=list)
    """Pods that no node takes."""
    needed: Set[str] = frozenset()
    """The existing nodes that take one."""
    rooms: Mapping[str, Room] = field(default_factory=dict)
    """The rooms of existing nodes, by name; empty where nothing was to be placed."""
    scene: Sequence[Room] = ()
    """The rooms of all nodes, where any pod has rules about others."""


def tally(pods: Sequence[PodInfo]) -> Tally | None:
    """Return the bonds of pods; None where they have none."""
    found: Tally | None = None
    for pod in pods:
        if pod.shape.bonds is not None:
            found = found or Tally()
            found.add(pod.shape.bonds, dying=pod.terminating is not None)
    return found


def room(node: Node, *, tied: bool = True) -> Room:
    """Return what an existing node has left. `tied`: pods of the cluster may have bonds."""
    used = node.used
    free = {name: has - used.get(name, 0) for name, has in node.allocatable.items()}
    return Room(node.name, node.labels, node.taints, free, tally=tally(node.pods) if tied else None)


def closed(node: Node) -> Room:
    """Return an existing node that takes no pods; the pods on it count for others."""
    return Room(node.name, node.labels, node.taints, {}, tally=tally(node.pods))


def of_all(snapshot: Snapshot, leaving: str = "") -> dict[str, Room]:
    """Return the rooms of all nodes, by name. The pods of `leaving` do not count: they look for another node."""
    return {
        node.name: Room(node.name, node.labels, node.taints, {})
        if node.name == leaving
        else room(node)
        if open_to_pods(node)
        else closed(node)
        for node in snapshot.nodes.values()
    }


def open_to_pods(node: Node) -> bool:
    """Return whether the scheduler may place pods on a node at all."""
    spec, metadata = node.body["spec"], node.body["metadata"]
    if spec.get("unschedulable") or metadata.get("deletionTimestamp"):
        return False
    return reports_ready(node.body)
