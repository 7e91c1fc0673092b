"""The registry: requests that are not fulfilled yet, machines that have not registered, and the health of groups and cluster.

Rules of cluster-autoscaler 1.36.1, clusterstate/clusterstate.go. A request is forgotten when it is fulfilled or timed out, and by a
restart: machines that boot without a request are no room for waiting pods (recording autoscaler-restarted-while-nodes-boot).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from sandbox.autoscaler.autoscaler_options import SLACK, Options, Profile, due
from sandbox.autoscaler.snapshot import Snapshot
from sandbox.autoscaler.world import Decision, Failure
from sandbox.cloud.node_groups import NodeGroup

_UNSAID = Failure("")


@dataclass(frozen=True)
class _Pause:
    until: float
    length: float
    failed: float
    failure: Failure


class BackOff:
    """The back-off of each group. Times are seconds of any one clock; those of `options` are divided by its factor."""

    def __init__(self, options: Options | None = None) -> None:
        options = options or Options()
        self._first = options.first_back_off / options.factor
        self._longest = options.longest_back_off / options.factor
        self._forgotten = options.back_off_forgotten / options.factor
        self._pauses: dict[str, _Pause] = {}

    def failed(self, now: float, group: str, failure: Failure = _UNSAID) -> float:
        """Leave a group alone, twice as long as after its last failure; until when. A failure during a pause does not double."""
        before = self._pauses.get(group)
        if before is None or now - before.failed > self._forgotten:
            length = self._first
        else:
            length = before.length if now < before.until else min(2 * before.length, self._longest)
        self._pauses[group] = _Pause(now + length, length, now, failure)
        return now + length

    def groups(self, now: float) -> Set[str]:
        """Return the groups that are left alone now."""
        return self.failures(now).keys()

    def failures(self, now: float) -> Mapping[str, Failure]:
        """Return the causes of the back-offs that last, by group."""
        return {group: pause.failure for group, pause in self._pauses.items() if now < pause.until - SLACK}

    def ends(self, now: float) -> float:
        """Return the first time at which a back-off ends; inf for none."""
        return min((pause.until for pause in self._pauses.values() if now < pause.until - SLACK), default=float("inf"))


Decided = Callable[[Decision], None]


@dataclass
class Request:
    """The growth of a group that is not fulfilled; a further request restarts its time."""

    expected: float
    increase: int


@dataclass
class Readiness:
    """The machines of a group by their state, by their nodes' names."""

    ready: int = 0
    unready: int = 0
    """Registered longer than a start takes, and not ready."""
    starting: list[str] = field(default_factory=list)
    unregistered: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    """Not registered within the provision time."""

    @property
    def registered(self) -> int:
        return self.ready + self.unready + len(self.starting)

    @property
    def upcoming(self) -> list[str]:
        return [*self.starting, *self.unregistered]


class Registry:
    """What the autoscaler remembers of its requests and their machines."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self.back_off = BackOff(options)
        self._requests: dict[str, Request] = {}
        self._unregistered: dict[str, float] = {}
        self._readiness: dict[str, Readiness] = {}
        self._unready, self._nodes = 0, 0
        self._events: list[float] = []
        self._unhealthy: set[str] = set()

    def observe(self, snapshot: Snapshot, profile: Profile, decided: Decided) -> None:
        """Note the machines of a scan; requests whose time is over fail, and their groups back off."""
        self._sort(snapshot, profile)
        for name in list(self._requests):
            request, group = self._requests[name], snapshot.groups.get(name)
            if group is None or not self.upcoming_of(group):
                del self._requests[name]
            elif due(request.expected, snapshot.now):
                del self._requests[name]
                self._fail(snapshot.now, group, profile, decided)
            else:
                self._events.append(request.expected)

    def requested(self, now: float, group: NodeGroup, by: int, profile: Profile) -> None:
        """Note that a group was asked to grow."""
        request = self._requests.setdefault(group.name, Request(now, 0))
        request.expected = now + profile.provision_time
        request.increase += by

    def refused(self, now: float, group: NodeGroup, refusal: str, decided: Decided) -> None:
        """Note that a group was refused at once (core/scaleup/orchestrator/executor.go, executeScaleUp)."""
        failure = Failure("cloudProviderError", f"failed to increase node group size: {refusal}")
        until = self.back_off.failed(now, group.name, failure)
        decided(Decision(now, "backoff", group.name, group.pool, until=until, reason="Other/cloudProviderError"))

    def errored(self, now: float, group: NodeGroup, failure: Failure, decided: Decided) -> None:
        """Note that machines of a group could not be made: its request has failed."""
        self._requests.pop(group.name, None)
        until = self.back_off.failed(now, group.name, failure)
        decided(Decision(now, "failed", group.name, group.pool, reason="machines could not be made"))
        reason = f"OutOfResource/{failure.code}"
        decided(Decision(now, "backoff", group.name, group.pool, until=until, reason=reason))

    def healthy(self, profile: Profile) -> bool:
        """Return whether the cluster's unready nodes are within the limits; without health nothing is done."""
        most = profile.unready_percentage / 100 * self._nodes
        return not (self._unready > profile.unready_count and self._unready > most)

    def group_healthy(self, group: NodeGroup, profile: Profile) -> bool:
        """Return whether a group has about as many ready nodes as it should; an unhealthy one is not asked for more."""
        readiness = self._readiness.get(group.name)
        request = self._requests.get(group.name)
        least = len(group.nodes) - (request.increase if request else 0)
        if readiness is None:
            return not group.nodes or least == 0
        missing = least - len(readiness.late) - readiness.ready
        return not (
            missing > profile.unready_count and missing > profile.unready_percentage / 100 * readiness.registered
        )

    def upcoming_of(self, group: NodeGroup) -> list[str]:
        """Return the machines of a group that should become ready nodes soon, whether or not a request is open."""
        readiness = self._readiness.get(group.name)
        return readiness.upcoming if readiness else []

    def counted(self, groups: Sequence[NodeGroup], now: float) -> dict[str, list[str]]:
        """Return the upcoming machines, by group, that count as room: those of groups with an open request and no back-off."""
        backed_off = self.back_off.groups(now)
        return {
            group.name: names
            for group in groups
            if group.name in self._requests and group.name not in backed_off and (names := self.upcoming_of(group))
        }

    def late(self) -> Mapping[str, Sequence[str]]:
        """Return the machines, by group, that did not register in time."""
        return {name: readiness.late for name, readiness in self._readiness.items() if readiness.late}

    def events(self) -> list[float]:
        """Return the times at which this changes by itself."""
        return self._events

    def note_health(self, now: float, groups: Sequence[NodeGroup], profile: Profile, decided: Decided) -> None:
        """Report groups that are asked for and unhealthy, once for scans in a row. `groups` is empty for a scan that asks none."""
        unhealthy = {group.name for group in groups if not self.group_healthy(group, profile)}
        for group in groups:
            if group.name in unhealthy - self._unhealthy:
                reason = "node group is unhealthy, not an option"
                decided(Decision(now, "failed", group.name, group.pool, reason=reason))
        self._unhealthy = unhealthy

    def _sort(self, snapshot: Snapshot, profile: Profile) -> None:
        now, startup = snapshot.now, self._options.startup_time
        self._events = []
        self._readiness = {}
        self._unready, self._nodes = 0, len(snapshot.nodes)
        for node in snapshot.nodes.values():
            if node.group is None:
                continue  # its machine is gone: deleted, neither ready nor unready
            readiness = self._readiness.setdefault(node.group.name, Readiness())
            if node.ready:
                readiness.ready += 1
            elif not due(node.since + startup, now):
                readiness.starting.append(node.name)
                self._events.append(node.since + startup)
            else:
                readiness.unready += 1
                self._unready += 1
        unregistered = {}
        for name, group in snapshot.group_of.items():
            if name in snapshot.nodes:
                continue
            since = unregistered[name] = self._unregistered.get(name, now)
            readiness = self._readiness.setdefault(group.name, Readiness())
            # While a request is open its time decides: the cloud lists no machine that it has not made (azure_scale_set.go, Nodes).
            if due(since + profile.provision_time, now) and group.name not in self._requests:
                readiness.late.append(name)
            else:
                readiness.unregistered.append(name)
                self._events.append(max(since + profile.provision_time, now + profile.scan_interval))
        self._unregistered = unregistered

    def _fail(self, now: float, group: NodeGroup, profile: Profile, decided: Decided) -> None:
        reason = f"scale-up timed out after {profile.provision_time:g} s"
        decided(Decision(now, "failed", group.name, group.pool, reason=reason))
        message = f"Scale-up timed out for node group {group.name} after {profile.provision_time:g}s"
        until = self.back_off.failed(now, group.name, Failure("timeout", message))
        decided(Decision(now, "backoff", group.name, group.pool, until=until, reason="Other/timeout"))
