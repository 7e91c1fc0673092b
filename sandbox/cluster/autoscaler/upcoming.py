"""Upcoming nodes: requested, not ready yet, and for how long the autoscaler counts on them.

A node that is not ready within `maxNodeProvisionTime` counts no longer, and its group has failed to grow. Every further request
to a group restarts that time for its upcoming nodes (recordings spot-never-ready-* and gpu-pods-trickle-one-each-10s).

`SANDBOX_CLOCK_FACTOR` does not shorten this time: an emulated machine takes real seconds.
"""

from collections.abc import Iterable, Set
from dataclasses import dataclass

from sandbox.cloud.node_groups import NodeGroup
from sandbox.cluster.autoscaler.node_capacity import Object, booting


@dataclass(frozen=True)
class Observation:
    """The upcoming nodes of one scan."""

    late: Set[str]
    """Nodes that count no longer."""
    failed: Set[str]
    """Groups, by name, with nodes that became late in this scan."""
    grew: Set[str]
    """Groups, by name, that have all requested nodes."""


class UpcomingNodes:
    """The upcoming nodes of one cluster. Times are seconds of any one clock."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self._requested: set[str] = set()
        self._late: set[str] = set()

    def requested(self, now: float, group: NodeGroup) -> None:
        """A group was asked to grow, which restarts the time of its upcoming nodes."""
        self._requested.add(group.name)
        self._since.update({name: now for name in group.nodes if name in self._since and name not in self._late})

    def observe(self, now: float, groups: Iterable[NodeGroup], nodes: Iterable[Object], limit: float) -> Observation:
        """Note the nodes of a scan; a node may take `limit` seconds."""
        by_name = {node["metadata"]["name"]: node for node in nodes}
        upcoming = {
            group.name: {name for name in group.nodes if name not in by_name or booting(by_name[name], group)}
            for group in groups
        }
        names = set().union(*upcoming.values())
        self._since = {name: self._since.get(name, now) for name in names}
        late = {name for name, since in self._since.items() if now - since >= limit}
        newly_late, self._late = late - self._late, late
        grew = {name for name in self._requested if not upcoming.get(name)}
        self._requested -= grew
        return Observation(late, {name for name, waiting in upcoming.items() if waiting & newly_late}, grew)
