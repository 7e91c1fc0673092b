"""The spot machines of an emulated cloud: it gives those that it has, and takes them back."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from sandbox.cloud import ids, spot_nodes
from sandbox.cloud.node_groups import TAKEN_BACK, Machines, NodeView, ScaleRefused, silent
from sandbox.cloud.spot_nodes import Bound, Condition, SpotFacts, Taint
from sandbox.cloud.state import Body, Record, Resources

# The cloud's controller of nodes puts it on a machine that is stopped (kubernetes/cloud-provider, controllers/nodelifecycle).
_STOPPED = Taint("node.cloudprovider.kubernetes.io/shutdown", "NoSchedule")
# The node controller's words for a kubelet that has stopped to report (kubernetes/kubernetes, pkg/controller/nodelifecycle).
_SILENT = Condition("Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")


@dataclass(frozen=True)
class _Machine:
    """A spot machine that a pool has."""

    pool: Record
    name: str
    kind: str
    zone: str
    state: spot_nodes.State | None

    @property
    def runs(self) -> bool:
        """Whether it takes one of the cloud's machines."""
        return self.state not in ("absent", "stopped")


class SpotMarket(ABC):
    """Spot machines of one account. `EmulatedCloud` has the rest."""

    cluster: str
    pool: str
    machines: Machines
    view: NodeView
    spot: SpotFacts

    @abstractmethod
    def _change(self) -> AbstractContextManager[Resources]:
        """Change the memory under its lock."""

    @abstractmethod
    def _read(self) -> Resources:
        """Return the memory as of the last change."""

    @abstractmethod
    def apply_nodes(self, cluster_id: str) -> None:
        """Make a cluster's nodes those of its pools."""

    def _region(self, resources: Resources, pool: Record) -> str:
        """Return the region of a pool, for the cloud's words."""
        return ""

    def _keeps_evicted(self, pool: Body) -> bool:
        """Return whether an evicted machine of a pool stays, stopped."""
        return False

    def _short(self, pool: Record, *, short: bool) -> None:  # noqa: B027
        """Note at a pool that machines it was given do not come, or that all have come."""

    def _pools(self, resources: Resources, below: str = "") -> list[Record]:
        """Return all that has machines: the pools, and what a cloud keeps like one."""
        return resources.of_type(self.pool, below)

    def spot_of(self, pool_id: str) -> SpotFacts:
        """Return the facts of one pool's spot machines. Raises KeyError for no pool."""
        return self.spot

    def _notice_of(self, pool: Record) -> SpotFacts:
        """Return what a notice does to the nodes of a pool."""
        return self.spot

    def capacities(self) -> list[Bound]:
        """Return the bounds of spot machines."""
        return spot_nodes.bounds(self._read())

    def set_capacity(self, bound: Bound) -> dict[str, list[str]]:
        """Set a bound; the machines beyond it by their pool's id, to be evicted: the last pools' first, the newest first."""
        with self._change() as resources:
            spot_nodes.set_bound(resources, bound)
            self._join(resources)
            running = [m for m in self._spot_machines(resources) if bound.covers(m.kind, m.zone) and m.runs]
            # Those that a killed command gave notice to go first.
            running.sort(key=lambda machine: machine.state == "noticed")
        surplus: dict[str, list[str]] = {}
        for machine in running[bound.nodes :]:
            surplus.setdefault(machine.pool.id, []).append(machine.name)
        return surplus

    def lift_capacity(self, machine: str, zone: str = "") -> None:
        """Remove the bound of a machine; what was requested meanwhile and never came comes now."""
        with self._change() as resources:
            spot_nodes.lift_bound(resources, machine, zone)
            self._join(resources)

    def restore(self) -> None:
        """Remove every bound and every state of a machine: the cloud has all that was asked for, and all of it runs."""
        with self._change() as resources:
            for bound in spot_nodes.bounds(resources):
                spot_nodes.lift_bound(resources, bound.machine, bound.zone)
            self._join(resources)
            for pool in list(spot_nodes.with_states(resources, self._pools(resources))):
                spot_nodes.set_state(resources, pool, [*spot_nodes.states(resources, pool)], None)

    def zones_of(self, machine: str) -> set[str] | None:
        """Return the zones in which spot pools have this machine; None where no spot pool has it."""
        resources = self._read()
        pools = [pool for pool in self._pools(resources) if self._kind(pool) == machine]
        return {zone for pool in pools for zone in self._pool_zones(pool.body)} if pools else None

    def _pool_zones(self, pool: Body) -> list[str]:
        """Return the zones of a pool; none where its machines have no zone."""
        return []

    def spot_machines(self) -> set[str]:
        """Return the machines of all spot pools."""
        return {kind for pool in self._read().of_type(self.pool) if (kind := self._kind(pool))}

    def running(self, pool_id: str) -> list[str]:
        """Return the machines of a pool that an eviction may take, by their nodes' names, those under notice first,
        then the oldest.
        """
        resources = self._read()
        pool = resources.records[ids.key(pool_id)]
        names = [m.name for m in self._machines_of(resources, pool) if m.runs]
        noticed = spot_nodes.in_state(resources, pool, "noticed")
        return [*noticed, *(name for name in names if name not in noticed)]

    def stopped(self, pool_id: str) -> list[str]:
        """Return the machines of a pool that evictions have stopped and left."""
        resources = self._read()
        pool = resources.get(pool_id)
        return spot_nodes.in_state(resources, pool, "stopped") if pool else []

    def mark(self, pool_id: str, nodes: Collection[str], state: spot_nodes.State | None, until: str = "") -> None:
        """Give machines of a pool a state; None makes them run again. The cluster's nodes follow.

        `until` is the end of their notice, as the cloud writes it.
        """
        with self._change() as resources:
            if pool := resources.get(pool_id):
                spot_nodes.set_state(resources, pool, nodes, state, until)
        self.apply_nodes(ids.parent(pool_id))

    def take(self, pool_id: str, nodes: Collection[str]) -> list[str]:
        """Take machines of a spot pool back, at the end of their notice; those that the cloud makes anew."""
        with self._change() as resources:
            # Somebody may have deleted the pool meanwhile.
            pool = resources.get(pool_id)
            replaced = self._take(resources, pool, nodes) if pool else []
        self.apply_nodes(ids.parent(pool_id))
        if replaced:
            self.mark(pool_id, replaced, None)
        return replaced

    def _take(self, resources: Resources, pool: Record, nodes: Collection[str]) -> list[str]:
        """Take machines back; those that are made anew, under the same names."""
        if self._keeps_evicted(pool.body):
            spot_nodes.set_state(resources, pool, nodes, "stopped")
            return []
        again = []
        if self.spot.replaced:
            taken = [machine for machine in self._machines_of(resources, pool) if machine.name in nodes]
            short = {machine.name for machine, _ in self._without_room(resources, taken)}
            again = [machine.name for machine in taken if machine.name not in short]
        spot_nodes.set_state(resources, pool, again, "going")
        self.machines.take(resources, pool, set(nodes) - set(again))
        return again

    def _finish_evictions(self, resources: Resources) -> None:
        """Take back what a killed process had given notice to."""
        for pool in list(spot_nodes.with_states(resources, self._pools(resources))):
            if noticed := spot_nodes.in_state(resources, pool, "noticed"):
                self._take(resources, pool, noticed)
            spot_nodes.set_state(resources, pool, spot_nodes.in_state(resources, pool, "going"), None)

    def _settle(self, resources: Resources) -> None:
        """Bring the machines of every pool in line with its body, and with the bounds of spot machines."""
        bounded = self._pools(resources) if spot_nodes.bounds(resources) else []
        had = {pool.id: self.machines.zones(resources, pool) for pool in bounded}
        self.machines.settle(resources)
        for pool in bounded:
            self._wait_for(resources, pool, had[pool.id])
        self._forget_states(resources)

    def _wait_for(self, resources: Resources, pool: Record, had: Collection[str]) -> list[_Machine]:
        """Return the new machines of a spot pool that the cloud does not have: they come when it has them."""
        short = [machine for machine, _ in self._beyond(resources, pool, had)]
        if short:
            spot_nodes.set_state(resources, pool, [machine.name for machine in short], "absent")
            self._short(pool, short=True)
        return short

    def _forget_states(self, resources: Resources) -> None:
        """Forget the states of machines that are gone."""
        for pool in list(spot_nodes.with_states(resources, self._pools(resources))):
            gone = spot_nodes.states(resources, pool).keys() - self.machines.zones(resources, pool).keys()
            spot_nodes.set_state(resources, pool, gone, None)

    def _kind(self, pool: Record) -> str:
        """Return the machine of a spot pool; empty for another pool."""
        machine, priority = self.view.capacity(pool.body)
        return machine if priority in TAKEN_BACK else ""

    def _machines_of(self, resources: Resources, pool: Record) -> Iterator[_Machine]:
        states, kind = spot_nodes.states(resources, pool), self._kind(pool)
        for name, zone in self.machines.zones(resources, pool).items():
            yield _Machine(pool, name, kind, zone, states.get(name))

    def _spot_machines(self, resources: Resources) -> list[_Machine]:
        """Return the machines of all spot pools, pool by pool."""
        pools = [pool for pool in self._pools(resources) if self._kind(pool)]
        return [machine for pool in pools for machine in self._machines_of(resources, pool)]

    def _fit(self, resources: Resources, pool: Record, had: Collection[str]) -> str:
        """Leave out the new machines of a spot pool that the cloud does not have; why, or empty.

        Raises ScaleRefused where none is left, or where the cloud refuses a request as a whole.
        """
        short = self._beyond(resources, pool, had)
        refused = {machine.name: machine for machine, bound in short if not bound.silent}
        if never := [machine.name for machine, bound in short if bound.silent]:
            spot_nodes.set_state(resources, pool, never, "absent")
            self._short(pool, short=True)
        if not refused:
            return ""
        first = next(iter(refused.values()))
        text = self.spot.refused.text(first.kind, self._region(resources, pool), first.zone, first.name)
        asked = self.machines.zones(resources, pool).keys() - set(had)
        if not self.spot.partial or len(refused) == len(asked):
            raise ScaleRefused(f"pool {ids.last(pool.id)} stays at {len(had)} nodes: {text}")
        self.machines.take(resources, pool, refused.keys())
        return f"pool {ids.last(pool.id)} gets {len(asked) - len(refused)} of {len(asked)} nodes: {text}"

    def _beyond(self, resources: Resources, pool: Record, had: Collection[str]) -> list[tuple[_Machine, Bound]]:
        """Return the machines of a pool beyond those that it had for which a bound leaves no room, and that bound."""
        if not spot_nodes.bounds(resources):
            return []
        return self._without_room(resources, [m for m in self._machines_of(resources, pool) if m.name not in had])

    def _join(self, resources: Resources) -> None:
        """Let machines that never came join, as far as the bounds leave room."""
        absent = [machine for machine in self._spot_machines(resources) if machine.state == "absent"]
        short = {machine.name for machine, _ in self._without_room(resources, absent)}
        for machine in absent:
            if machine.name not in short:
                spot_nodes.set_state(resources, machine.pool, [machine.name], None)
                self._short(machine.pool, short=bool(spot_nodes.in_state(resources, machine.pool, "absent")))

    def _without_room(self, resources: Resources, asked: list[_Machine]) -> list[tuple[_Machine, Bound]]:
        """Return those of the machines, in their order, for which a bound leaves no room beside all others that run;
        and that bound.
        """
        bounds, names = spot_nodes.bounds(resources), {machine.name for machine in asked}
        running = [m for m in self._spot_machines(resources) if m.runs and m.name not in names]
        left = {bound: bound.nodes - sum(bound.covers(m.kind, m.zone) for m in running) for bound in bounds}
        short = []
        for machine in asked:
            covering = [bound for bound in bounds if bound.covers(machine.kind, machine.zone)]
            full = next((bound for bound in covering if left[bound] <= 0), None)
            if full:
                short.append((machine, full))
            else:
                left |= {bound: left[bound] - 1 for bound in covering}
        return short

    def _joined(self, resources: Resources, cluster: Record, pool: Record) -> list[dict[str, Any]]:
        """Return the nodes of a pool as they are in the cluster: without machines that do not come, others with what
        their state does.
        """
        states, until = spot_nodes.states(resources, pool), spot_nodes.deadline(resources, pool)
        nodes = self.view.nodes(resources, cluster, pool)
        by_state, facts = ((node, states.get(node["metadata"]["name"])) for node in nodes), self._notice_of(pool)
        return [_in_state(node, state, until, facts) for node, state in by_state if state not in ("absent", "going")]


def _in_state(node: dict[str, Any], state: spot_nodes.State | None, until: str, facts: SpotFacts) -> dict[str, Any]:
    if state is None:
        return node
    changed = copy.deepcopy(node)
    taint = {"noticed": facts.taint if facts.drained else None, "stopped": _STOPPED}.get(state)
    if taint:
        changed["spec"]["taints"] = [*changed["spec"].get("taints", ()), taint.as_object()]
    condition = facts.condition if state == "noticed" else _SILENT
    others = [known for known in changed["status"].get("conditions", ()) if known["type"] != condition.type]
    changed["status"]["conditions"] = [*others, condition.as_object(until)]
    if condition.type == "Ready":
        changed["metadata"]["annotations"] = {**changed["metadata"].get("annotations", {}), **silent()}
    elif facts.drained:
        # A drain cordons first.
        changed["spec"]["unschedulable"] = True
    return changed
