"""An index of a record: nodes, requests, back-offs and spot capacity at any moment."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from drill.judge.turns import backoffs, first_turns
from drill.judge.verdict import seconds
from drill.world.record import Node, Pod, Pool, Record

LOOP = 1.0
"""Seconds of one loop of the autoscaler, between giving a pool up and asking another (recorded: 0.1
to 0.7 s)."""
_DEFAULTS = {"maxNodeProvisionTime": "15m", "scanInterval": "10s", "okTotalUnreadyCount": "3"}
"""AKS' own values (learn.microsoft.com/azure/aks/cluster-autoscaler)."""
_SLICE = 600
"""Seconds of a slice of the index of waiting pods."""


class View:
    """The questions of verdicts to a record that does not change: `View(record).free(...)`."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.end = record.clock.length
        self.pools = {pool.name: pool for pool in record.pools}
        self.nodes = {node.name: node for node in record.nodes}
        self._of_pool: dict[str, list[Node]] = defaultdict(list)
        for node in record.nodes:
            self._of_pool[node.pool].append(node)
        self._registrations: dict[frozenset[str], list[tuple[float, float, float]]] = {}

    def setting(self, key: str) -> float | None:
        """Return a setting of the autoscaler as a number, durations in seconds; None on GKE."""
        default = _DEFAULTS[key] if self.record.provider == "azure" else None
        value = self.record.settings.get(key, default)
        return None if value is None else seconds(value)

    @cached_property
    def spot_pools(self) -> list[Pool]:
        """The spot pools."""
        return [pool for pool in self.record.pools if pool.capacity == "spot"]

    def before(self, name: str) -> list[list[Pool]]:
        """List the chains that lead to a pool: a spot pool and the spot pools behind it."""
        chains = []
        for pool in self.spot_pools:
            if name in pool.fallback:
                between = pool.fallback[: pool.fallback.index(name)]
                known = [self.pools[each] for each in between if each in self.pools]
                chains.append([pool, *(each for each in known if each.capacity == "spot")])
        return chains

    def allowed_pools(self, pod: Pod) -> list[Pool]:
        """List the pools that can take a pod.

        Without recorded constraints these are the pools of its pool's chains, or all pools.
        """
        names = set(pod.reach or self.pools)
        if not pod.reach and pod.pool in self.pools:
            own = self.pools[pod.pool]
            before = {pool.name for chain in self.before(own.name) for pool in chain}
            names = {own.name, *own.fallback, *before}
        return [pool for pool in self.record.pools if pool.name in names and pool.gpus >= pod.gpus]

    def spot_for(self, pod: Pod) -> list[Pool]:
        """List the spot pools that can take a pod; none if it may not run on spot."""
        allowed = self.allowed_pools(pod) if pod.spot else []
        return [pool for pool in allowed if pool.capacity == "spot"]

    def twins_for(self, pod: Pod) -> list[Pool]:
        """List the on-demand pools that can take a pod when spot does not come."""
        allowed = [pool for pool in self.allowed_pools(pod) if pool.capacity == "on-demand"]
        return [pool for pool in allowed if self.before(pool.name)]

    def chains(self, pod: Pod, twin: str) -> list[list[Pool]]:
        """List the spot pools that are tried for a pod before an on-demand pool, by chain."""

        def usable(pool: Pool) -> bool:
            return pool.gpus >= pod.gpus and (not pod.reach or pool.name in pod.reach)

        chains = [list(filter(usable, chain)) for chain in self.before(twin)]
        return [chain for chain in chains if chain]

    def of_pool(self, name: str) -> list[Node]:
        """List the nodes of a pool."""
        return self._of_pool.get(name, [])

    @cached_property
    def _spans(self) -> dict[str, tuple[list[float], list[float]]]:
        return {name: _ends(nodes) for name, nodes in self._of_pool.items()}

    def on_node(self, name: str) -> list[Pod]:
        """List the pods that were on a node."""
        return self._on_node.get(name, [])

    @cached_property
    def _on_node(self) -> dict[str, list[Pod]]:
        pods: dict[str, list[Pod]] = defaultdict(list)
        for pod in self.record.pods:
            if pod.node is not None:
                pods[pod.node].append(pod)
        return pods

    def count(self, pool: str, at: float) -> int:
        """Count the nodes of a pool at a moment, requested ones too."""
        return _alive(self._spans.get(pool), at)

    def registration(self, pools: Iterable[Pool], since: float, until: float) -> float:
        """Return the longest time from request to ready of nodes that booted between two moments.

        Without such nodes all nodes of the pools count; if these never grew, those of all pools.
        """
        names = frozenset(pool.name for pool in pools)
        booted = self._booted(names)
        meanwhile = [took for begin, ready, took in booted if begin <= until and ready >= since]
        if not booted and names != frozenset(self.pools):
            return self.registration(self.record.pools, since, until)
        return max(meanwhile or [took for _, _, took in booted], default=0.0)

    def _booted(self, names: frozenset[str]) -> list[tuple[float, float, float]]:
        if names not in self._registrations:
            self._registrations[names] = [
                (node.requested, node.ready, node.ready - node.requested)
                for name in names
                for node in self.of_pool(name)
                if node.ready is not None and node.requested > 0
            ]
        return self._registrations[names]

    def booting(self, pool: str, at: float) -> bool:
        """Return whether a node of a pool was booting, within its provision time."""
        for node in self.of_pool(pool):
            ends = (node.ready, node.gone, node.requested + self._provision)
            if node.requested <= at < min(each for each in ends if each):
                return True
        return False

    def full(self, pool: Pool, at: float) -> bool:
        """Return whether a pool was at its maximum at a moment."""
        return pool.most is not None and self.count(pool.name, at) >= pool.most

    def due(self, pod: Pod) -> float:
        """Return the moment from which a pod waits: its creation, or the turn of its piece of work.

        A quota that keeps pods from being created does not shorten the wait.
        """
        return self._due.get(pod.name, pod.created)

    @cached_property
    def _due(self) -> dict[str, float]:
        return first_turns(self.record)

    @cached_property
    def requests(self) -> dict[str, list[float]]:
        """The moments at which nodes were requested, by pool."""
        pools = self._of_pool.items()
        return {name: sorted({node.requested for node in nodes}) for name, nodes in pools}

    @cached_property
    def backoffs(self) -> dict[str, list[tuple[float, float]]]:
        """The start and end of each back-off, by pool."""
        return backoffs(self.record.events)

    def backed_off_until(self, pool: str, at: float) -> float | None:
        """Return the end of a pool's back-off at a moment; None outside of one."""
        spans = self.backoffs.get(pool, ())
        return next((end for begin, end in spans if begin - LOOP <= at < end), None)

    def refused(self, pool: str, at: float, within: float) -> bool:
        """Return whether a request for a pool failed in the seconds before a moment."""
        times = self._failures.get(pool, [])
        index = bisect_right(times, at + LOOP)
        return index > 0 and at - times[index - 1] <= within

    @cached_property
    def _failures(self) -> dict[str, list[float]]:
        times: dict[str, list[float]] = defaultdict(list)
        for event in self.record.events:
            if event.kind in ("refused", "failed"):
                times[event.pool].append(event.at)
        return {pool: sorted(each) for pool, each in times.items()}

    def unready(self, pool: str, at: float) -> int:
        """Count the nodes of a pool that are not ready after the provision time."""
        return sum(begun <= at < end for begun, end in self._late.get(pool, ()))

    @cached_property
    def _provision(self) -> float:
        return self.setting("maxNodeProvisionTime") or seconds(_DEFAULTS["maxNodeProvisionTime"])

    @cached_property
    def _late(self) -> dict[str, list[tuple[float, float]]]:
        late = self._provision
        spans: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for node in self.record.nodes:
            ends = [at for at in (node.ready, node.gone) if at is not None]
            if not ends or min(ends) > node.requested + late:
                spans[node.pool].append((node.requested + late, min(ends, default=self.end)))
        return spans

    def pending(self, at: float) -> list[Pod]:
        """List the pods with GPUs that had no node at a moment."""
        pods = self._waiting.get(int(at // _SLICE), ())
        return [pod for pod in pods if pod.created < at <= self._until(pod)]

    def _until(self, pod: Pod) -> float:
        return min((at for at in (pod.bound, pod.ended) if at is not None), default=self.end)

    @cached_property
    def _waiting(self) -> dict[int, list[Pod]]:
        slices: dict[int, list[Pod]] = defaultdict(list)
        for pod in self.record.pods:
            if pod.gpus:
                last = int(self._until(pod) // _SLICE)
                for index in range(int(pod.created // _SLICE), last + 1):
                    slices[index].append(pod)
        return slices

    @cached_property
    def _steps(self) -> dict[tuple[str, str], tuple[list[float], list[int | None]]]:
        steps: dict[tuple[str, str], tuple[list[float], list[int | None]]] = {}
        for step in sorted(self.record.capacity, key=lambda step: step.at):
            times, values = steps.setdefault((step.machine, step.zone), ([], []))
            times.append(step.at)
            values.append(step.nodes)
        return steps

    def places(self, machine: str, zones: Iterable[str] = ()) -> list[str]:
        """List the zones with known capacity of a machine: of these zones, or of all."""
        known = [zone for each, zone in self._steps if each == machine]
        wanted = set(zones)
        return [zone for zone in known if not wanted or zone in wanted or not zone]

    def capacity(self, machine: str, zone: str, at: float) -> int | None:
        """Return the spot nodes that the cloud could give in a zone; None for no bound."""
        times, values = self._steps.get((machine, zone), ([], []))
        index = bisect_right(times, at)
        return values[index - 1] if index else None

    def free(self, pool: Pool, at: float) -> float:
        """Count the further nodes that the cloud could give a spot pool, without its own bound."""
        zones = self.places(pool.machine, pool.zones)
        if not zones:
            return float("inf")
        free = 0.0
        for zone in zones:
            capacity = self.capacity(pool.machine, zone, at)
            if capacity is None:
                return float("inf")
            free += max(0, capacity - _alive(self._held.get((pool.machine, zone)), at))
        return free

    def room(self, pool: Pool, at: float) -> float:
        """Count the further nodes that a spot pool could have, by the cloud and by its bound."""
        free = self.free(pool, at)
        if pool.most is None:
            return free
        return min(free, max(0, pool.most - self.count(pool.name, at)))

    @cached_property
    def _held(self) -> dict[tuple[str, str], tuple[list[float], list[float]]]:
        held: dict[tuple[str, str], list[Node]] = defaultdict(list)
        for pool in self.spot_pools:
            for node in self.of_pool(pool.name):
                held[pool.machine, node.zone].append(node)
                if node.zone:  # A step without a zone bounds all zones together.
                    held[pool.machine, ""].append(node)
        return {
            place: _ends([node for node in nodes if node.registered is not None])
            for place, nodes in held.items()
        }

    @cached_property
    def steps_at(self) -> list[float]:
        """The moments at which capacity changes."""
        return sorted({step.at for step in self.record.capacity})


def _ends(nodes: Iterable[Node]) -> tuple[list[float], list[float]]:
    kept = list(nodes)
    gone = [node.gone for node in kept if node.gone is not None]
    return sorted(node.requested for node in kept), sorted(gone)


def _alive(ends: tuple[list[float], list[float]] | None, at: float) -> int:
    if ends is None:
        return 0
    begun, gone = ends
    return bisect_right(begun, at) - bisect_right(gone, at)
