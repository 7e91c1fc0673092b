"""The autoscaler: one scan after the other, with the real program's timing and without a clock of its own.

Rules of cluster-autoscaler 1.36.1 (core/static_autoscaler.go, loop/trigger.go), and the recordings of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from sandbox.autoscaler import growth, journal, migration, packing
from sandbox.autoscaler.autoscaler_options import Options, Profile, due, seconds
from sandbox.autoscaler.behaviour import OF_CLOUD, Behaviour
from sandbox.autoscaler.drainable import Drain
from sandbox.autoscaler.growth import Growth, Limits
from sandbox.autoscaler.registry import Registry
from sandbox.autoscaler.removal import Removals
from sandbox.autoscaler.rooms import Placement, Room, closed, open_to_pods, room
from sandbox.autoscaler.shapes import PodInfo
from sandbox.autoscaler.snapshot import TO_BE_DELETED, Snapshot, Snapshots
from sandbox.autoscaler.templates import Templates
from sandbox.autoscaler.unneeded import Unneeded
from sandbox.autoscaler.world import Decision, Failure, Hands, World
from sandbox.cloud.node_groups import NodeGroup, ScaleRefused

_NEVER = float("inf")
_POD_DELAY = "cluster-autoscaler.kubernetes.io/pod-scale-up-delay"


class Autoscaler:
    """One autoscaler process; a new one on the same world is a restart, which forgets requests and back-offs.

    `cloud` is "azure" or "gcp". The caller calls `scan` at the time that the last scan returned, and before it when a pod becomes
    unschedulable: the real loop then starts at once (loop/trigger.go). The same seed and worlds give the same decisions.
    """

    def __init__(self, cloud: str, options: Options, random: Random) -> None:
        self._behaviour, self._options, self._random = OF_CLOUD[cloud], options, random
        self._order = Random(random.getrandbits(64))
        """Draws the equal pods that are left: apart from the expander's draws, which their number would shift."""
        self._snapshots = Snapshots(options.priority_cutoff)
        self._templates = Templates(options.stable)
        self._registry = Registry(options)
        self._unneeded = Unneeded(options, self._behaviour.least)
        self._removals = Removals(options)
        self._grown = float("-inf")
        self._healthy, self._first, self._migrating = True, True, False
        self._wakes = _NEVER
        self.growth = Growth()
        """What the last scan found out about the pods that no node takes."""

    def wakes(self) -> float:
        """Return the earliest time at which a scan could do anything if the world does not change; inf for never."""
        return self._wakes

    def backed_off(self, now: float) -> Mapping[str, Failure]:
        """Return the failures after which groups are left alone, by the groups' names."""
        return self._registry.back_off.failures(now)

    def scan(self, now: float, world: World, hands: Hands) -> float:
        """Scan once; return the time of the next. Raises what `hands` raise but ScaleRefused; ValueError for a bad profile."""
        behaviour = self._behaviour(world)
        own = behaviour.unneeded_times(world.groups)
        profile = Profile.of({**self._behaviour.defaults, **world.profile}, self._options, own)
        snapshot = self._snapshots.take(now, world)
        if self._first:
            self._release(snapshot, hands)
            self._first = False
        snapshot = snapshot.without(self._removals.advance(snapshot, profile, hands))
        self._registry.observe(snapshot, profile, hands.decided)
        snapshot = snapshot.without(self._remove_failed(snapshot, hands))
        snapshot = snapshot.without(self._remove_late(snapshot, hands))
        if not self._check_health(now, profile, hands):
            self._unneeded.clear()
            self._wakes = min([*self._registry.events(), self._removals.due(), _NEVER])
            return now + profile.scan_interval
        behaviour.admit([pod.pod for pod in snapshot.waiting], hands)
        templates = self._templates.of(snapshot)
        placed = self._place(snapshot, templates)
        self.growth = Growth()
        left, ripens = self._old_enough(snapshot, profile, placed.left)
        waits = self._waits(snapshot, profile, left)
        grown = not waits and self._grow(snapshot, profile, behaviour, templates, left, placed.scene, hands)
        if grown:
            self._grown = now
        elif not placed.left and not self._removals.names:
            self._migrate(snapshot, profile, behaviour, templates, hands)
        removed = self._unneeded.scan(
            snapshot, profile, placed, self._registry, self._removals, hands, held=bool(waits), grown=self._grown
        )
        return self._next(snapshot, profile, waits, ripens, grown or removed)

    def _next(self, snapshot: Snapshot, profile: Profile, waits: float, ripens: float, acted: bool) -> float:
        """Return the time of the next scan: at once after one that acted. `ripens`: when a young pod begins to count."""
        now = snapshot.now
        if acted:
            self._wakes = now + self._options.again
            return self._wakes
        events = [*self._registry.events(), self._removals.due(), self._unneeded.due(), ripens]
        if waits:
            events.append(waits)
        elif self.growth.options:
            events.append(now + profile.scan_interval)  # the cloud refused one: the next may be granted
        elif self.growth.hopeless or self._migrating:
            events.append(self._registry.back_off.ends(now))
        self._wakes = min((time for time in events if time > now), default=_NEVER)
        return min(now + profile.scan_interval, max(self._removals.due(), now))

    def _release(self, snapshot: Snapshot, hands: Hands) -> None:
        """Keep the nodes that a killed process had chosen to remove."""
        tainted = [
            node.name for node in snapshot.nodes.values() if any(taint["key"] == TO_BE_DELETED for taint in node.taints)
        ]
        if tainted:
            hands.untaint(tainted)

    def _remove_failed(self, snapshot: Snapshot, hands: Hands) -> list[str]:
        """Delete machines that the cloud could not make, and leave their groups alone (static_autoscaler.go,
        deleteCreatedNodesWithErrors; clusterstate.go, handleInstanceCreationErrors)."""
        removed: list[str] = []
        for group in snapshot.groups.values():
            going = [name for name in group.nodes if name in snapshot.world.failed]
            if not going:
                continue
            self._registry.errored(snapshot.now, group, self._behaviour.unmade, hands.decided)
            try:
                hands.remove(group, going)
            except ScaleRefused:
                continue  # the next scan tries again
            removed += going
        return removed

    def _remove_late(self, snapshot: Snapshot, hands: Hands) -> list[str]:
        """Remove machines that did not register within the provision time, down to the group's minimum."""
        removed: list[str] = []
        for name, late in self._registry.late().items():
            group = snapshot.groups[name]
            if group.least is None:
                continue
            going = list(late)[: max(0, len(group.nodes) - group.least)]
            if not going:
                continue
            try:
                hands.remove(group, going)
            except ScaleRefused:
                continue  # the next scan tries again
            removed += going
            size, rest = len(group.nodes), len(group.nodes) - len(going)
            hands.decided(
                Decision(snapshot.now, "scale-down", group.name, group.pool, size, rest, reason="unregistered")
            )
        return removed

    def _check_health(self, now: float, profile: Profile, hands: Hands) -> bool:
        healthy = self._registry.healthy(profile)
        if healthy != self._healthy:
            reason = "" if healthy else "cluster is unhealthy, nothing is done"
            hands.decided(
                Decision(now, "note" if healthy else "failed", "", reason=reason or "cluster is healthy again")
            )
        self._healthy = healthy
        return healthy

    def _place(self, snapshot: Snapshot, templates: dict[str, Room]) -> Placement:
        """Place waiting pods on existing and upcoming nodes."""
        waiting = [*snapshot.waiting, *self._removals.moving(snapshot)]
        if not waiting and not snapshot.tied:
            return Placement()
        rooms: dict[str, Room] = {}
        upcoming = self._registry.counted(snapshot.world.groups, snapshot.now)
        booting = {name for names in upcoming.values() for name in names}
        hidden = booting | self._removals.names
        for node in snapshot.nodes.values():
            if node.name not in hidden and open_to_pods(node):
                rooms[node.name] = room(node, tied=snapshot.tied)
        existing = dict(rooms)
        for group, names in upcoming.items():
            rooms.update({name: templates[group].another(name) for name in names})
        scene = list(rooms.values()) if snapshot.tied else []
        if snapshot.tied:
            scene += [
                closed(node) for name, node in snapshot.nodes.items() if name not in rooms and name not in booting
            ]
        used, left = packing.place(waiting, list(rooms.values()), self._order, scene)
        return Placement(left, used & existing.keys(), existing, scene)

    def _old_enough(self, snapshot: Snapshot, profile: Profile, left: list[PodInfo]) -> tuple[list[PodInfo], float]:
        """Return the pods that are old enough to count, and when the next one is; inf for none.

        Younger ones do not exist for this scan: they do not hold a removal either (core/static_autoscaler.go, filterOutYoungPods).
        """
        if not profile.new_pod_delay and not any(pod.metadata.get("annotations") for pod in left):
            return left, _NEVER
        old, ripens = [], _NEVER
        for pod in left:
            at = snapshot.since(pod) + max(profile.new_pod_delay, self._own_delay(pod))
            if due(at, snapshot.now):
                old.append(pod)
            else:
                ripens = min(ripens, at)
        return old, ripens

    def _own_delay(self, pod: PodInfo) -> float:
        """Return the delay that a pod asks for itself; 0 for none, and for what is no time of Go's (`120` has no unit)."""
        text = (pod.metadata.get("annotations") or {}).get(_POD_DELAY, "")
        try:
            return 0.0 if text.isdigit() else seconds(text) / self._options.factor
        except ValueError:
            return 0.0

    def _waits(self, snapshot: Snapshot, profile: Profile, left: Sequence[PodInfo]) -> float:
        """Return the time at which the pods that no node takes are old enough for a scale-up; 0 where they are, or there are none.

        Too young pods may become more, and hold removals (core/static_autoscaler.go, allPodsAreNew).
        """
        if not left:
            return 0
        now, since = snapshot.now, [snapshot.since(pod) for pod in left]
        ripe = min(since) + self._options.pod_age
        if with_gpus := [born for pod, born in zip(left, since, strict=True) if pod.shape.gpu]:
            ripe = max(ripe, min(with_gpus) + self._options.gpu_pod_age)
        if due(ripe, now):
            return 0
        # Which equal pods are left is drawn in each scan: an older one may be among them in the next.
        oldest = min(map(snapshot.since, snapshot.waiting), default=now)
        return min(ripe, now + profile.scan_interval) if oldest < min(since) else ripe

    def _grow(
        self,
        snapshot: Snapshot,
        profile: Profile,
        behaviour: Behaviour,
        templates: dict[str, Room],
        left: Sequence[PodInfo],
        scene: Sequence[Room],
        hands: Hands,
    ) -> bool:
        """Ask for nodes for pods that no node takes; whether all that was asked for is granted."""
        if not left:
            self._registry.note_health(snapshot.now, (), profile, hands.decided)
            return False
        groups = snapshot.world.groups
        limits = self._limits(snapshot, profile, behaviour, hands)
        found = self.growth = growth.growth(groups, templates, left, limits, scene)
        if not found.options:
            return False
        option, why = behaviour.choose(groups, found.options, self._random)
        shares = found.shares(option)
        if len(shares) > 1:
            why = f"{why}; shared among similar pools"
        why = f"for {journal.pods([pod.name for pod in option.pods])}: {why}"
        # The first refusal ends the scale-up (core/scaleup/orchestrator/executor.go).
        return all(
            self._request(snapshot.groups[name], by, why, snapshot, profile, hands) for name, by in shares.items()
        )

    def _migrate(
        self, snapshot: Snapshot, profile: Profile, behaviour: Behaviour, templates: dict[str, Room], hands: Hands
    ) -> None:
        """Move the pods of one node to a pool that their class prefers, or let that pool grow for them."""
        groups = snapshot.world.groups
        ranks = behaviour.ranks(groups) if self._options.most_drains else {}
        self._migrating = bool(ranks)
        if not ranks:
            return
        upcoming = self._registry.counted(groups, snapshot.now)
        stopped = {group.name for group in groups if not self._registry.group_healthy(group, profile)}
        stopped |= self._registry.back_off.groups(snapshot.now)
        drain = Drain(snapshot, profile, self._options)
        move = migration.next_move(snapshot, ranks, templates, stopped, upcoming, drain, self._removals.names)
        if move is None:
            return
        names = journal.pods([pod.name for pod in move.moving])
        if move.node is not None:
            self._removals.start(snapshot, [(move.node, move.moving)], profile, hands, "active migration")
        elif move.group is not None:
            self._request(move.group, move.by, f"for {names}: active migration", snapshot, profile, hands)

    def _limits(self, snapshot: Snapshot, profile: Profile, behaviour: Behaviour, hands: Hands) -> Limits:
        now, groups = snapshot.now, snapshot.world.groups
        self._registry.note_health(now, [group for group in groups if group.most is not None], profile, hands.decided)
        stopped = {group.name: "unhealthy" for group in groups if not self._registry.group_healthy(group, profile)}
        stopped |= dict.fromkeys(self._registry.back_off.groups(now), "left alone because it could not grow")
        stopped |= behaviour.barred(groups)
        return Limits(stopped, behaviour.hopeless, profile.balanced, self._options.balancing_ignored)

    def _request(self, group: NodeGroup, by: int, why: str, snapshot: Snapshot, profile: Profile, hands: Hands) -> bool:
        """Ask for so many nodes more of a group; whether the cloud grants them."""
        now, size = snapshot.now, len(group.nodes)
        hands.decided(Decision(now, "scale-up", group.name, group.pool, size, size + by, reason=why))
        try:
            hands.grow(group, by)
        except ScaleRefused as refused:
            self._registry.refused(now, group, self._behaviour.answer(group, str(refused)), hands.decided)
            hands.decided(Decision(now, "failed", "", reason=f"failed to increase node group size: {refused}"))
            return False
        self._registry.requested(now, group, by, profile)
        return True
