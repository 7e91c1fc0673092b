"""The autoscaler of a drill: its scans, its view of the world, and its actions."""

import math
from collections.abc import Collection, Sequence
from typing import Any

from drill.play.clock import Clock
from drill.play.faults import Report
from drill.play.machines import Machines
from drill.play.nodes import Nodes
from drill.play.observed import Observed
from drill.world import record
from sandbox.autoscaler.world import Decision, World
from sandbox.cloud.node_groups import NodeGroup
from sandbox.kubernetes.client import Object

GOING = {"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}


class Hands:
    """The actions of the autoscaler in the drill's cluster and cloud."""

    def __init__(
        self, clock: Clock, observed: Observed, machines: Machines, nodes: Nodes, report: Report
    ) -> None:
        self._clock, self._observed, self._machines = clock, observed, machines
        self._nodes, self._report = nodes, report

    def make(self, group: NodeGroup, zone: str) -> str:
        """Ask for one machine in a zone; return its node's name. Raises ScaleRefused."""
        (name,) = self._machines.grow(group, 1, zone)
        return name

    def refusal(self, group: NodeGroup) -> str:
        """Return the cloud's words when it has no machine for a pool."""
        return self._machines.refusal(group)

    def grow(self, group: NodeGroup, by: int) -> None:
        self._machines.grow(group, by)

    def remove(self, group: NodeGroup, nodes: Collection[str]) -> None:
        self._machines.remove(group, nodes, "scale-down")
        for name in nodes:
            self._nodes.end_node(name, "drained")

    def taint(self, nodes: Collection[str]) -> None:
        for name in nodes:
            self._nodes.set_taint(name, GOING, on=True)

    def untaint(self, nodes: Collection[str]) -> None:
        for name in nodes:
            self._nodes.set_taint(name, GOING, on=False)

    def busy(self, node: str) -> bool:
        self._observed.flush()
        self._observed.drain(0.0)
        return self._nodes.busy(node)

    def evict(self, pod: Object, grace: float) -> bool:
        return self._nodes.evict_now(pod, grace, "drained")

    def tolerate(self, pod: Object, tolerations: Sequence[Any]) -> None:
        place = (pod["metadata"]["name"], pod["metadata"]["namespace"])
        change = {"spec": {"tolerations": list(tolerations)}}
        self._observed.request(
            lambda client: client.patch("v1", "Pod", *place, change), missing=True
        )

    def decided(self, decision: Decision) -> None:
        shown = event_of(decision)
        self._report(shown.kind, shown.pool, shown.text, shown.nodes)


def event_of(decision: Decision) -> record.Event:
    """Return the event of a decision; its times are of the drill's clock."""
    text = decision.reason or f"{decision.before} -> {decision.after} nodes"
    if decision.until is not None:
        text += f", until {decision.until / 60:.1f} min"
    nodes = abs(decision.after - decision.before)
    return record.Event(decision.at, decision.action, decision.pool, text, nodes)


class Scans:
    """The times of scans, an interval apart: `scans.changed()`.

    A scan is left out while nothing has changed and the autoscaler waits for no time.
    """

    def __init__(self, clock: Clock, interval: float, scan: Any) -> None:
        self._clock, self._interval, self._scan = clock, interval, scan
        self._next, self._token, self._at = 0.0, 0, math.inf

    def done(self, following: float, wakes: float) -> None:
        """End a scan. The next is at `following`, or later if nothing happens before `wakes`."""
        self._next = following
        self._at = math.inf
        if wakes < math.inf:
            self._plan(wakes)

    def changed(self) -> None:
        """Scan at the next time of the grid, because the world has changed."""
        self._plan(self._clock.now)

    def now(self) -> None:
        """Scan at once, for an unschedulable pod (cluster-autoscaler, loop/trigger.go)."""
        self._next = self._clock.now
        self._plan(self._clock.now)

    def _plan(self, least: float) -> None:
        steps = max(0, math.ceil((least - self._next) / self._interval - 1e-9))
        when = self._next + steps * self._interval
        if when < self._at:
            self._at = when
            self._token += 1
            token = self._token
            self._clock.at(when, lambda: self._run(token))

    def _run(self, token: int) -> None:
        if token == self._token:
            self._scan()


def world_of(
    observed: Observed, machines: Machines, since: dict[str, float], unchanging: dict[str, Any]
) -> World:
    """Return the world that the autoscaler sees now; `unchanging` is the part no drill changes."""
    groups = machines.groups()
    return World(
        groups=groups.groups,
        nodes=list(observed.objects["Node"].values()),
        pods=list(observed.objects["Pod"].values()),
        since=since,
        daemon_sets=list(observed.objects["DaemonSet"].values()),
        budgets=list(observed.objects["PodDisruptionBudget"].values()),
        profile=groups.profile,
        failed=frozenset(machines.failed),
        **unchanging,
    )
