"""Removals: nodes on their way out. They are tainted, emptied and deleted over several scans.

Rules of cluster-autoscaler 1.36.1, core/scaledown/actuation (actuator.go, drain.go, group_deletion_scheduler.go).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox.autoscaler.autoscaler_options import Options, Profile, due
from sandbox.autoscaler.drainable import Drain
from sandbox.autoscaler.shapes import PodInfo
from sandbox.autoscaler.snapshot import Node, Snapshot
from sandbox.autoscaler.world import Decision, Hands
from sandbox.cloud.node_groups import ScaleRefused

_NEVER = float("inf")
_EVICT_DAEMON = "cluster-autoscaler.kubernetes.io/enable-ds-eviction"


Leaving = tuple[Node, Sequence[PodInfo]]
"""A node that shall go, and its pods that shall go elsewhere."""


@dataclass
class Removal:
    """One node on its way out. `at` is the time of the next step."""

    name: str
    group: str
    drained: bool
    reason: str
    at: float
    refused_until: float = _NEVER
    """Evictions are tried again until then."""
    gone_until: float = _NEVER
    """Evicted pods must be gone by then."""
    waiting: dict[Any, PodInfo] = field(default_factory=dict)
    """Pods that are not evicted yet, by uid."""
    leaving: set[Any] = field(default_factory=set)
    """Evicted pods that must go before the node does, by uid."""
    begun: bool = False


class Removals:
    """The removals of one cluster."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._removals: dict[str, Removal] = {}

    @property
    def names(self) -> set[str]:
        """The nodes on their way out."""
        return set(self._removals)

    def due(self) -> float:
        """Return the time of the next step; inf for none."""
        return min((removal.at for removal in self._removals.values()), default=_NEVER)

    def moving(self, snapshot: Snapshot) -> list[PodInfo]:
        """Return the pods that need a new node because theirs is drained (core/podlistprocessor/currently_drained_nodes.go)."""
        return [
            pod
            for removal in self._removals.values()
            if removal.drained and (node := snapshot.nodes.get(removal.name))
            for pod in node.pods
            if not pod.of_node and pod.terminating is None
        ]

    def start(
        self, snapshot: Snapshot, leaving: Sequence[Leaving], profile: Profile, hands: Hands, reason: str = ""
    ) -> int | None:
        """Begin to remove nodes, as many as may go at the same time; how many, None where they cannot be tainted."""
        now = snapshot.now
        room = profile.most_deletions - len(self._removals)
        drains = self._options.most_drains - sum(removal.drained for removal in self._removals.values())
        chosen: list[Leaving] = []
        for node, moving in sorted(leaving, key=lambda each: bool(each[1])):
            if len(chosen) < room and (not moving or drains > 0):
                drains -= bool(moving)
                chosen.append((node, moving))
        if not chosen:
            return 0
        try:
            hands.taint([node.name for node, _ in chosen])
        except ScaleRefused:
            return None
        sizes = {group.name: len(group.nodes) - self._of(group.name) for group in snapshot.world.groups}
        for node, moving in chosen:
            group, name = node.group, node.name
            assert group is not None, f"{name} is of no group"
            why = f"{reason or ('drain' if moving else 'empty')}: {name}"
            size = sizes[group.name]
            sizes[group.name] -= 1
            hands.decided(Decision(now, "scale-down", group.name, group.pool, size, size - 1, reason=why))
            self._removals[name] = Removal(
                name,
                group.name,
                bool(moving),
                why,
                now + self._options.delete_delay,
                now + self._options.delete_delay + self._options.eviction_time,
            )
        self.advance(snapshot, profile, hands)
        return len(chosen)

    def advance(self, snapshot: Snapshot, profile: Profile, hands: Hands) -> list[str]:
        """Take every step whose time has come; the machines that are removed."""
        going: dict[str, list[Removal]] = {}
        for removal in list(self._removals.values()):
            if removal.name not in snapshot.group_of:
                del self._removals[removal.name]  # the machine is gone by now
            elif due(removal.at, snapshot.now) and self._emptied(removal, snapshot, profile, hands):
                going.setdefault(removal.group, []).append(removal)
        return [name for group, each in going.items() for name in self._delete(group, each, snapshot, hands)]

    def _emptied(self, removal: Removal, snapshot: Snapshot, profile: Profile, hands: Hands) -> bool:
        """Take the next step; whether the node can be deleted."""
        node = snapshot.nodes.get(removal.name)
        if not removal.begun:
            removal.begun = True
            if why := self._kept(removal, node, snapshot, profile, hands):
                self._abort(removal, snapshot, hands, why)
                return False
            self._begin(removal, node, profile, hands)
        present = {pod.uid for pod in node.pods} if node else set()
        removal.waiting = {uid: pod for uid, pod in removal.waiting.items() if uid in present}
        if removal.waiting and not self._evict(removal, snapshot, profile, hands):
            return False
        if removal.leaving & present:
            if due(removal.gone_until, snapshot.now):
                self._abort(removal, snapshot, hands, "its pods did not end in time")
            else:
                removal.at = snapshot.now + self._options.drain_poll
            return False
        return True

    def _kept(self, removal: Removal, node: Node | None, snapshot: Snapshot, profile: Profile, hands: Hands) -> str:
        """Return the reason why a node is kept after all, before its first pod is evicted; the rules are asked again."""
        if not removal.drained:
            return "a pod came to it" if hands.busy(removal.name) else ""
        return Drain(snapshot, profile, self._options).pods(node).reason if node else ""

    def _begin(self, removal: Removal, node: Node | None, profile: Profile, hands: Hands) -> None:
        """Evict what nobody waits for, and note the pods to evict."""
        by_default = profile.evict_daemon_sets_of_occupied if removal.drained else profile.evict_daemon_sets_of_empty
        for pod in node.pods if node else ():
            if pod.of_node:
                wish = (pod.metadata.get("annotations") or {}).get(_EVICT_DAEMON)
                if not pod.mirror and (by_default if wish is None else wish == "true"):
                    hands.evict(pod.pod, _grace(pod, profile))
            elif removal.drained:
                removal.waiting[pod.uid] = pod

    def _evict(self, removal: Removal, snapshot: Snapshot, profile: Profile, hands: Hands) -> bool:
        """Evict the pods that are left; whether all are on their way."""
        for uid, pod in list(removal.waiting.items()):
            if pod.terminating is not None or hands.evict(pod.pod, _grace(pod, profile)):
                removal.leaving.add(uid)
                del removal.waiting[uid]
        if not removal.waiting:
            removal.gone_until = snapshot.now + profile.most_grace + self._options.eviction_headroom
            removal.at = snapshot.now + self._options.drain_poll
            return not removal.leaving
        if due(removal.refused_until, snapshot.now):
            self._abort(removal, snapshot, hands, "its pods could not be evicted")
        else:
            removal.at = snapshot.now + self._options.eviction_retry
        return False

    def _delete(self, name: str, removals: Sequence[Removal], snapshot: Snapshot, hands: Hands) -> list[str]:
        group, going = snapshot.groups[name], [removal.name for removal in removals]
        for removal in removals:
            del self._removals[removal.name]
        try:
            hands.remove(group, going)
        except ScaleRefused as refused:
            for removal in removals:
                self._keep(removal, group.pool, snapshot, hands, str(refused))
            return []
        return going

    def _abort(self, removal: Removal, snapshot: Snapshot, hands: Hands, why: str) -> None:
        del self._removals[removal.name]
        self._keep(removal, snapshot.group_of[removal.name].pool, snapshot, hands, why)

    def _keep(self, removal: Removal, pool: str, snapshot: Snapshot, hands: Hands, why: str) -> None:
        hands.untaint([removal.name])
        reason = f"failed to remove {removal.name}: {why}"
        hands.decided(Decision(snapshot.now, "failed", removal.group, pool, reason=reason))

    def _of(self, group: str) -> int:
        return sum(removal.group == group for removal in self._removals.values())


def _grace(pod: PodInfo, profile: Profile) -> float:
    """Return a pod's grace period, at most the profile's."""
    own = pod.spec.get("terminationGracePeriodSeconds")
    grace = 30.0 if own is None else float(own)
    return min(grace, profile.most_grace) if profile.most_grace > 0 else grace
