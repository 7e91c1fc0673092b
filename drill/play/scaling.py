"""The autoscaler of a drill: when it scans, what it sees, and its hands in the drill's cluster and cloud."""

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
_KINDS: dict[str, record.EventKind] = {
    "scale-up": "scale-up",
    "failed": "failed",
    "backoff": "backoff",
    "scale-down": "scale-down",
    "note": "note",
}


class Hands:
    """The hands of the autoscaler."""

    def __init__(
        self, clock: Clock, observed: Observed, machines: Machines, nodes: Nodes, report: Report
    ) -> None:
        self._clock, self._observed, self._machines = clock, observed, machines
        self._nodes, self._report = nodes, report

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
        metadata = pod["metadata"]
        change = {"spec": {"tolerations": list(tolerations)}}
        self._observed.request(
            lambda client: client.patch(
                "v1", "Pod", metadata["name"], metadata["namespace"], change
            ),
            missing=True,
        )

    def decided(self, decision: Decision) -> None:
        shown = event(decision)
        self._report(shown.kind, shown.pool, shown.text, shown.nodes)


def event(decision: Decision) -> record.Event:
    """A decision as the timeline shows it; its times are of the drill's clock."""
    text = decision.reason or f"{decision.before} -> {decision.after} nodes"
    if decision.until is not None:
        text += f", until {decision.until / 60:.1f} min"
    nodes = abs(decision.after - decision.before)
    return record.Event(decision.at, _KINDS[decision.action], decision.pool, text, nodes)


class Scans:
    """The times of scans: an interval apart, and none while nothing has changed and no time of the autoscaler's has come."""

    def __init__(self, clock: Clock, interval: float, scan: Any) -> None:
        self._clock, self._interval, self._scan = clock, interval, scan
        self._next, self._token, self._at = 0.0, 0, math.inf

    def done(self, following: float, wakes: float) -> None:
        """A scan is done: the next is at `following`, or as much later as nothing happens until `wakes`."""
        self._next = following
        self._at = math.inf
        if wakes < math.inf:
            self._plan(wakes)

    def changed(self) -> None:
        """The world has changed."""
        self._plan(self._clock.now)

    def now(self) -> None:
        """A pod has become unschedulable: the loop starts at once (cluster-autoscaler, loop/trigger.go)."""
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


def world(
    observed: Observed, machines: Machines, since: dict[str, float], fixed: dict[str, Any]
) -> World:
    """The world now. `fixed` has what no drill changes."""
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
        **fixed,
    )
