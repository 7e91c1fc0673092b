"""Machines that have been asked for and are not there yet, and for how long the autoscaler counts on them.

A machine that is not ready within `maxNodeProvisionTime` counts no longer, and its group could not grow. Every further request to a
group begins its time anew (recordings spot-never-ready-* and gpu-pods-trickle-one-each-10s).

The time is not made to pass faster by `SANDBOX_CLOCK_FACTOR`: a machine takes the seconds here that it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass

from sandbox.cloud.node_groups import NodeGroup
from sandbox.cluster.autoscaler.rooms import Object, booting


@dataclass(frozen=True)
class Seen:
    """`late` are nodes that nobody counts on; `failed` are groups, by name, that have new ones of these, and `grew` those that were
    asked and have all their machines."""

    late: Set[str]
    failed: Set[str]
    grew: Set[str]


class Coming:
    """Of one cluster. Times are seconds of any one clock."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self._asked: set[str] = set()
        self._late: set[str] = set()

    def asked(self, now: float, group: NodeGroup) -> None:
        """A group was asked for more: the time of those that are still on their way begins anew."""
        self._asked.add(group.name)
        self._since.update({name: now for name in group.nodes if name in self._since and name not in self._late})

    def see(self, now: float, groups: Iterable[NodeGroup], nodes: Iterable[Object], limit: float) -> Seen:
        """Take note of what is there; a machine may take `limit` seconds."""
        there = {node["metadata"]["name"]: node for node in nodes}
        on_the_way = {
            group.name: {name for name in group.nodes if name not in there or booting(there[name], group)}
            for group in groups
        }
        names = set().union(*on_the_way.values())
        self._since = {name: self._since.get(name, now) for name in names}
        late = {name for name, since in self._since.items() if now - since >= limit}
        new, self._late = late - self._late, late
        grew = {name for name in self._asked if not on_the_way.get(name)}
        self._asked -= grew
        return Seen(late, {name for name, waited in on_the_way.items() if waited & new}, grew)
