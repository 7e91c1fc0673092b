"""Unneeded nodes: those whose pods fit elsewhere, since when, and those that are removed now.

Rules of cluster-autoscaler 1.36.1, core/scaledown (eligibility, planner, unneeded, budgets) and simulator/cluster.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from sandbox.autoscaler.autoscaler_options import Options, Profile, due
from sandbox.autoscaler.drainable import Drain
from sandbox.autoscaler.packing import Moves
from sandbox.autoscaler.registry import Registry
from sandbox.autoscaler.removal import Removals
from sandbox.autoscaler.rooms import Placement, Room, open_to_pods, room
from sandbox.autoscaler.shapes import GPU_RESOURCES, PodInfo
from sandbox.autoscaler.snapshot import Node, Snapshot
from sandbox.autoscaler.world import Hands
from sandbox.cloud.node_groups import NodeGroup

# cluster-autoscaler FAQ, "How can I prevent Cluster Autoscaler from scaling down a particular node?"
_KEPT = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
_NEVER = float("inf")


@dataclass(frozen=True)
class Candidate:
    """A node that could go now, and the pods that would go elsewhere."""

    node: Node
    moving: Sequence[PodInfo]
    ending: bool
    """Whether it waits until pods end by themselves."""
    risky: bool
    """Whether budgets do not allow all evictions at the same time."""


class Unneeded:
    """The unneeded nodes of one cluster, by name. Times are seconds of any one clock. `least` nodes of the cluster stay."""

    def __init__(self, options: Options, least: int) -> None:
        self._options, self._least = options, least
        self._since: dict[str, float] = {}
        self._kept: dict[str, float] = {}
        """Nodes that a simulation could not empty, and until when they are not looked at."""
        self._removed = float("-inf")
        self._failed = float("-inf")
        self._due = _NEVER
        self._more = False
        """Whether a scan did not look at all nodes."""

    def clear(self) -> None:
        """Forget all unneeded nodes."""
        self._since = {}
        self._due = _NEVER

    def due(self) -> float:
        """Return the first time at which a scan could do more than the last."""
        return self._due

    def scan(
        self,
        snapshot: Snapshot,
        profile: Profile,
        placed: Placement,
        registry: Registry,
        removals: Removals,
        hands: Hands,
        *,
        held: bool,
        grown: float,
    ) -> bool:
        """Note the unneeded nodes of a scan, and remove those whose time is over; whether any is removed.

        Nothing is removed while `held`. `grown` is the time of the last scale-up.
        """
        now, drain = snapshot.now, Drain(snapshot, profile, self._options)
        upcoming = {name for names in registry.counted(snapshot.world.groups, now).values() for name in names}
        found = self._simulate(snapshot, profile, placed, upcoming | removals.names, drain)
        self._since = {name: self._since.get(name, now) for name in found}
        cools = max(
            grown + profile.delay_after_add,
            self._removed + profile.delay_after_delete,
            self._failed + profile.delay_after_failure,
        )
        ripe = self._ripe(snapshot, profile, found, removals)
        self._set_due(snapshot, profile, found, cools)
        if held or not due(cools, now) or not ripe:
            return False
        started = removals.start(snapshot, [(each.node, each.moving) for each in ripe], profile, hands)
        if started is None:
            self._failed = now
        elif started:
            self._removed = now
            # A node that is kept after all must be unneeded for its whole time again.
            self._since = {name: since for name, since in self._since.items() if name not in removals.names}
        return bool(started)

    def _simulate(
        self, snapshot: Snapshot, profile: Profile, placed: Placement, out: Set[str], drain: Drain
    ) -> dict[str, Candidate]:
        """Return the nodes that could go together, by name."""
        now = snapshot.now
        self._kept = {
            name: until for name, until in self._kept.items() if name in snapshot.nodes and not due(until, now)
        }
        found: dict[str, Candidate] = {}
        gone = set(out)
        most = self._most(profile)
        self._more = False
        moves: Moves | None = None
        for node in self._eligible(snapshot, profile, out | placed.needed, drain):
            if len(found) >= most:
                self._more = True
                break
            leaving = drain.pods(node)
            moving, reason = leaving.moving, leaving.reason
            arrived = moves.arrived(node.name) if moves else ()
            if any(allowed[0] < 1 for pod in arrived for allowed in drain.budgets.of(pod)):
                reason = "pods that would move to it have a PodDisruptionBudget that allows no other eviction"
            moving = [*moving, *arrived]
            if not reason and (moving or snapshot.tied):
                moves = moves or Moves(_filled(placed.rooms, snapshot), placed.scene, gone)
            if not reason and moves:
                reason = "" if moves.move(node.name, moving) else "no place for its pods"
            if reason:
                self._kept[node.name] = now + self._options.recheck
                continue
            risky = drain.risky(moving)
            drain.budgets.take(moving)
            gone.add(node.name)
            found[node.name] = Candidate(node, moving, bool(leaving.ending), risky)
        return found

    def _eligible(self, snapshot: Snapshot, profile: Profile, out: Set[str], drain: Drain) -> list[Node]:
        """Return the nodes that are worth a simulation: empty ones first, then earlier unneeded ones."""
        nodes = []
        for group in snapshot.world.groups:
            if group.least is None or len(group.nodes) <= group.least:
                continue
            for name in group.nodes:
                node = snapshot.nodes.get(name)
                if node is None or name in out or name in self._kept:
                    continue
                if (node.body["metadata"].get("annotations") or {}).get(_KEPT) == "true":
                    continue
                if utilisation(node, profile, drain) <= self._threshold(node, profile):
                    nodes.append(node)
        return sorted(nodes, key=lambda node: (*drain.order(node), node.name not in self._since))

    def _threshold(self, node: Node, profile: Profile) -> float:
        return self._options.gpu_utilisation if _gpu(node) else profile.utilisation

    def _most(self, profile: Profile) -> int:
        """Return the unneeded nodes that are worth noting (core/scaledown/planner/planner.go, unneededNodesLimit)."""
        each = profile.most_deletions
        loops = int(profile.unneeded_time / profile.scan_interval) if profile.scan_interval > 0 else 1
        return min(len(self._since) + 2 * each, each * max(1, loops) + each)

    def _ripe(
        self, snapshot: Snapshot, profile: Profile, found: Mapping[str, Candidate], removals: Removals
    ) -> list[Candidate]:
        """Return the nodes whose time is over, empty ones first, down to each group's minimum."""
        spare = sum(len(group.nodes) for group in snapshot.world.groups) - len(removals.names) - self._least
        ripe: list[Candidate] = []
        gone = set(removals.names)
        for candidate in sorted(found.values(), key=lambda each: (bool(each.moving), each.risky, each.ending)):
            node = candidate.node
            if node.group is None or len(ripe) >= spare:
                continue
            if due(self._since[node.name] + _wait(node, profile), snapshot.now) and _spared(
                node.group, node.name, gone
            ):
                gone.add(node.name)
                # A node that waits for pods to end counts as gone for its group's minimum (planner.go, NodesToDelete).
                if not candidate.ending:
                    ripe.append(candidate)
        return ripe

    def _set_due(self, snapshot: Snapshot, profile: Profile, found: Mapping[str, Candidate], cools: float) -> None:
        now = snapshot.now
        times = [self._since[name] + _wait(each.node, profile) for name, each in found.items()]
        times = [max(time, cools) for time in times]
        times += self._kept.values()
        if self._more:
            times.append(now + profile.scan_interval)
        self._due = min((time for time in times if time > now), default=_NEVER)


def utilisation(node: Node, profile: Profile, drain: Drain) -> float:
    """Return the largest share of a node's CPU and memory that is requested, or of its GPUs where it has some.

    simulator/utilization/info.go; a GPU node that reports none counts as unused.
    """
    allocatable = node.allocatable
    gpu = _gpu(node)
    names = (gpu,) if gpu else ("cpu", "memory")
    shares = []
    for name in names:
        full, used = allocatable.get(name, 0), node.used.get(name, 0)
        if used and (profile.ignore_daemon_sets or any(pod.terminating is not None for pod in node.pods)):
            for pod in node.pods:
                asked = pod.shape.requests.get(name, 0)
                if profile.ignore_daemon_sets and pod.of_node and not pod.mirror:
                    full, used = full - asked, used - asked
                elif drain.long_terminating(pod):
                    used -= asked
        if full <= 0:
            return 0.0
        shares.append(used / full)
    return max(shares)


def _gpu(node: Node) -> str:
    """Return the GPU resource of a node; empty without GPUs."""
    allocatable = node.body["status"].get("allocatable") or {}
    for name in GPU_RESOURCES:
        if str(allocatable.get(name, "0")) != "0":
            return name
    return GPU_RESOURCES[0] if node.group is not None and node.group.gpus is not None else ""


def _wait(node: Node, profile: Profile) -> float:
    if not node.ready:
        return profile.unready_time
    return profile.unneeded_times.get(node.group.name if node.group else "", profile.unneeded_time)


def _spared(group: NodeGroup, name: str, gone: Set[str]) -> bool:
    """Return whether a group and the node's zone can spare it, beside those that go."""
    floors = [(frozenset(group.nodes), group.least or 0), *group.floors]
    return all(name not in nodes or len(nodes - gone) > least for nodes, least in floors)


def _filled(rooms: Mapping[str, Room], snapshot: Snapshot) -> Mapping[str, Room]:
    """Return the rooms of existing nodes, which a scan without waiting pods did not need."""
    return rooms or {
        node.name: room(node, tied=snapshot.tied) for node in snapshot.nodes.values() if open_to_pods(node)
    }
