"""Machines of a drill: a copy of the emulated cloud, with spot capacity over time and faults.

The copy keeps its own rules (bounds, quotas, subnets). Added here: the spot machines of a zone are
limited, machines take time to register, and some never register.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from drill.play.clock import Clock
from drill.play.source import Captured
from drill.world import record, scenario
from drill.world.node_groups import (
    REGION,
    applies,
    is_spot,
    label_of,
    machine_of,
    node_name,
    rezoned,
    spread,
    zone_of,
    zones_of,
)
from drill.world.scenario import FAILED_AFTER, assumed_shortage
from sandbox.autoscaler.fit import misfit
from sandbox.cloud.emulated_cloud import EmulatedCloud
from sandbox.cloud.node_groups import NodeGroup, NodeGroups, ScaleRefused
from sandbox.cloud.spot_nodes import SpotFacts
from sandbox.kubernetes.client import Object


@dataclass(frozen=True)
class Place:
    """A zone, and whether it is the first of a pool's."""

    zone: str
    first: bool


@dataclass
class Active:
    """A fault while it lasts."""

    kind: str
    place: scenario.Place


class Machines:
    """The machines of one cluster: `machines.grow(group, 2)`.

    `join` is called with a node's object when its machine registers.
    """

    def __init__(
        self,
        cloud: EmulatedCloud,
        cluster: str,
        clock: Clock,
        captured: Captured,
        boot: float,
        facts: SpotFacts,
        shortage: scenario.Shortage | None = None,
    ) -> None:
        self._cloud, self._cluster, self._captured = cloud, cluster, captured
        self._clock, self._boot = clock, boot
        self._facts, self.shortage = facts, shortage or assumed_shortage(facts)
        self.failed: set[str] = set()
        """Machines that are known to have failed."""
        self.told: Callable[[], None] = lambda: None
        """Called when a machine is known to have failed."""
        self.join: Callable[[Object], None] = lambda node: None
        self.order: Callable[[record.Node], Any] = lambda node: node.name
        """The order of nodes of one age: the scheduler draws one of equal nodes."""
        self.nodes: dict[str, record.Node] = {}
        self.all: list[record.Node] = []
        self.bodies: dict[str, Object] = {}
        self.limits: dict[tuple[str, str], int | None] = {}
        """Spot capacity by machine and zone; no bound if it is missing."""
        self.active: list[Active] = []
        self._groups: NodeGroups | None = None
        self._zones: dict[str, list[str]] = {}
        self._kept: dict[str, bool] = {}
        self._absent: dict[str, record.Node] = {}
        """Machines that the cloud recreates when it can; they count in their pool's size."""

    def begin(self) -> None:
        """Bring every autoscaled pool to its minimum, and add the first nodes."""
        for group in self._cloud.node_groups(self._cluster).groups:
            if group.least is not None and len(group.nodes) > group.least:
                self._cloud.remove(group.pool_id, group.nodes[group.least :])
        self._cloud.apply_nodes(self._cluster)
        self._groups = None
        for group in self.groups().groups:
            for name in group.nodes:
                self._add(group, name, zone_of(self._captured.nodes[name]), ready=True)

    def groups(self) -> NodeGroups:
        """Return the pools as the autoscaler sees them."""
        if self._groups is None:
            self._groups = self._cloud.node_groups(self._cluster)
        return self._groups

    def group(self, pool: str) -> NodeGroup:
        return next(group for group in self.groups().groups if group.pool == pool)

    def has(self, node: record.Node) -> bool:
        """Return whether this very machine still exists, and not a recreated one of its name."""
        return self.nodes.get(node_name(node)) is node

    def reach(self, pod: Object) -> tuple[str, ...]:
        """List the pools that a pod's selectors and required affinity allow."""
        labels = {g.pool: g.template["metadata"]["labels"] for g in self.groups().groups}
        return tuple(pool for pool in labels if not misfit(pod["spec"], "", labels[pool], ()))

    def zones(self, group: NodeGroup) -> list[str]:
        """List the zones of a pool, as its nodes name them."""
        if group.pool not in self._zones:
            self._zones[group.pool] = zones_of(self._cloud, group)
        return self._zones[group.pool]

    def grow(self, group: NodeGroup, by: int, zone: str = "") -> list[str]:
        """Request machines, in a zone of the pool if one is given; return their nodes' names.

        Raises ScaleRefused for machines that the cloud refuses.
        """
        group, new = self.group(group.pool), list[str]()
        if self.fault("refuse", group):
            raise ScaleRefused(f"pool {group.pool}: {self.refusal(group)}")
        places = self.places(group, by, zone=zone) if is_spot(group) else None
        granted = by if places is None else len(places)
        if granted < by and not self._facts.partial:
            granted = 0
        silent = by - granted if self.shortage != "at-once" else 0
        if granted + silent:
            before = set(self._captured.nodes)
            self._cloud.grow(group.pool_id, granted + silent)
            self._groups = None
            new = sorted(self._captured.nodes.keys() - before)
            zones = places or [zone_of(self._captured.nodes[name]) for name in new]
            for name, zone in zip(new[:granted], zones, strict=False):
                self._add(group, name, zone)
            for name in new[granted:]:
                self._never_make(group, name)
        if granted + silent < by:
            some = f"{granted} of {by} machines; for the rest: " if granted else ""
            raise ScaleRefused(f"pool {group.pool}: {some}{self.refusal(group)}")
        return new

    def _never_make(self, group: NodeGroup, name: str) -> None:
        """Note a requested machine that the cloud will never make. It is in no zone."""
        self.nodes[name] = node = record.Node(name, group.pool, "", self._clock.now)
        self.all.append(node)
        self.bodies[name] = self._captured.nodes[name]
        if self.shortage == "20s":
            self._clock.after(FAILED_AFTER, lambda: self._tell(node))

    def _tell(self, node: record.Node) -> None:
        if self.has(node):
            self.failed.add(node.name)
            self.told()

    def remove(self, group: NodeGroup, names: Collection[str], why: record.NodeEnd) -> None:
        """Delete machines."""
        for name in names:
            self._end_absence(name, why)
        self._cloud.remove(group.pool_id, names)
        self._groups = None
        self.gone(names, why)

    def lose(self, names: Collection[str], why: record.NodeEnd) -> None:
        """Take machines away. The cloud recreates them when it can, or the pool shrinks.

        The pool may fall below its minimum: only the autoscaler heeds that.
        """
        by_pool: dict[str, list[str]] = {}
        zones = {name: self.nodes[name].zone for name in names if name in self.nodes}
        for name in zones:
            by_pool.setdefault(self.nodes[name].pool, []).append(name)
        self.gone(names, why)
        for pool, lost in by_pool.items():
            group = self.group(pool)
            if self._facts.replaced and is_spot(group):
                for name in lost:
                    self._absent[name] = record.Node(name, pool, zones[name], self._clock.now)
                    self.all.append(self._absent[name])
                self.revive()
                continue
            try:
                self._cloud.remove(group.pool_id, lost)
            except ScaleRefused:
                self._cloud.scale(self._cluster, pool, len(group.nodes) - len(lost), force=True)
            self._groups = None

    def stays(self, name: str) -> bool:
        """Return whether the cloud stops an evicted machine, which counts in the pool's size."""
        pool = self.nodes[name].pool
        if pool not in self._kept:
            body = self._cloud.get(self.group(pool).pool_id) or {}
            self._kept[pool] = body.get("scaleSetEvictionPolicy") == "Deallocate"
        return self._kept[pool]

    def revive(self) -> None:
        """Recreate machines where there is capacity again."""
        for name, absent in list(self._absent.items()):
            group = self.group(absent.pool)
            if name not in group.nodes:
                self._end_absence(name, "lost")
            elif places := self.places(group, 1, again=name):
                self._end_absence(name, "lost")
                self._add(group, name, places[0])

    def _end_absence(self, name: str, why: record.NodeEnd) -> None:
        """End the absence of a machine; drop one that had no length."""
        absent = self._absent.pop(name, None)
        if absent is not None:
            absent.gone, absent.why = self._clock.now, why
            if absent.requested == self._clock.now:
                self.all.remove(absent)

    def gone(self, names: Collection[str], why: record.NodeEnd) -> None:
        for name in names:
            self.failed.discard(name)
            if (node := self.nodes.pop(name, None)) is not None:
                node.gone, node.why = self._clock.now, why
                self.bodies.pop(name, None)

    def running(self, machine: str = "*", zone: str = "*", pool: str = "*") -> list[record.Node]:
        """List the spot nodes of a machine in a zone, the newest first, then by `order`."""
        nodes = self._running(machine, zone, pool)
        return sorted(nodes, key=lambda node: (-node.requested, self.order(node)))

    def _running(self, machine: str, zone: str, pool: str = "*") -> list[record.Node]:
        return [
            node
            for node in self.nodes.values()
            if is_spot(group := self.group(node.pool))
            and machine in ("*", machine_of(group))
            and zone in ("*", node.zone)
            and pool in ("*", node.pool)
        ]

    def spot_places(self) -> list[tuple[str, Place, int]]:
        """List each spot machine in each of its zones, with the zone's part of the maximum."""
        found: dict[tuple[str, str], tuple[Place, int]] = {}
        for group in filter(is_spot, self.groups().groups):
            zones = self.zones(group)
            parts = spread(group.most or len(group.nodes), len(zones))
            for number, zone in enumerate(zones):
                _, most = found.get((machine_of(group), zone), (None, 0))
                found[machine_of(group), zone] = (Place(zone, number == 0), most + parts[number])
        return [(machine, place, most) for (machine, _), (place, most) in found.items()]

    def set_limit(self, machine: str, zone: str, nodes: int | None) -> None:
        """Change the capacity of a machine in a zone."""
        self.limits[machine, zone] = nodes

    def surplus(self) -> list[record.Node]:
        """List the running nodes beyond the capacity of their zones, the newest first."""
        over = []
        for (machine, zone), most in self.limits.items():
            if most is not None:
                running = [node for node in self.running(machine, zone) if node.noticed is None]
                over += running[: max(0, len(running) - most)]
        return over

    def places(self, group: NodeGroup, by: int, again: str = "", zone: str = "") -> list[str]:
        """Choose zones for new spot machines: each time the one with room and fewest machines.

        A zone has room by the cloud's capacity and by the pool's bound in a zone. Absent machines
        count for that bound, except `again`. A `zone` that is the pool's is the only one.
        """
        machine, zones = machine_of(group), self.zones(group)
        zones = [zone] if zone in zones else zones
        used = {each: len(self._running(machine, each)) for each in zones}
        own = {each: len(self._running(machine, each, group.pool)) for each in zones}
        absent = [
            node.zone
            for node in self._absent.values()
            if node.pool == group.pool and node.name != again
        ]
        places = []
        for _ in range(by):
            free = [
                z for z in used if (most := self.limits.get((machine, z))) is None or used[z] < most
            ]
            if group.zone_most is not None:
                free = [z for z in free if own[z] + absent.count(z) < group.zone_most]
            if not free:
                break
            zone = min(free, key=lambda z: (own[z], z))
            used[zone] += 1
            own[zone] += 1
            places.append(zone)
        return places

    def _add(self, group: NodeGroup, name: str, zone: str, *, ready: bool = False) -> None:
        self.enter(group, name, zone, rezoned(self._captured.nodes[name], zone), ready=ready)

    def enter(
        self, group: NodeGroup, name: str, zone: str, body: Object, *, ready: bool = False
    ) -> None:
        """Request a machine; its node, `body`, joins when it registers."""
        node = record.Node(name, group.pool, zone, self._clock.now)
        self.nodes[name] = node
        self.all.append(node)
        self.bodies[name] = body
        if ready:
            self.join(body)
        elif not self.fault("silent", group):
            slow = self.fault("slow", group)
            boot = self._boot + (slow.seconds if slow else 0.0)
            self._clock.after(boot, lambda: self._register(node))

    def _register(self, node: record.Node) -> None:
        # A machine that was lost and recreated while it booted registers once.
        if self.has(node):
            self.join(self.bodies[node.name])

    def fault(self, kind: str, group: NodeGroup) -> scenario.Place | None:
        """Return a pool's fault of a kind, while it lasts."""
        places = (fault.place for fault in self.active if fault.kind == kind)
        return next((place for place in places if applies(place, group)), None)

    def refusal(self, group: NodeGroup) -> str:
        """Return the cloud's words when it has no machine."""
        region, zone = label_of(group, REGION), self.zones(group)[0]
        return self._facts.refused.text(machine_of(group), region, zone)
