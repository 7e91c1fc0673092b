"""Upgrades: nodes are replaced one by one, each when the one before is back."""

from collections.abc import Callable, Sequence

from drill.play.clock import Clock
from drill.play.machines import Machines
from drill.world import record
from drill.world.node_groups import is_spot, node_name
from sandbox.cloud.node_groups import ScaleRefused
from sandbox.cloud.spot_nodes import SpotFacts

REPLACED = 60.0
"""Seconds from the drain of a node to its end. Assumed."""


class Upgrades:
    """The upgrades of one cluster: `upgrades.begin(nodes)`.

    `drain` empties a node, `notice` gives it the cloud's notice, `end` deletes it.
    """

    def __init__(
        self,
        clock: Clock,
        machines: Machines,
        facts: SpotFacts,
        drain: Callable[[str], None],
        notice: Callable[[str], None],
        end: Callable[[str], None],
    ) -> None:
        self._clock, self._machines, self._facts = clock, machines, facts
        self._drain, self._notice, self._end = drain, notice, end
        self._following: dict[str, Callable[[], None]] = {}
        """The next steps of upgrades, by the node that they wait for."""

    def begin(self, nodes: Sequence[record.Node]) -> None:
        """Replace nodes one after the other."""
        self._next(list(nodes))

    def went_on(self, name: str) -> None:
        """Go on with the upgrade that waits for this node, which is ready or gone."""
        if (step := self._following.pop(name, None)) is not None:
            step()

    def _next(self, left: list[record.Node]) -> None:
        while left:
            node = left.pop(0)
            if self._machines.has(node) and node.noticed is None:
                self._empty(node, left)
                return

    def _empty(self, node: record.Node, left: list[record.Node]) -> None:
        if self._facts.upgrade == "noticed" and is_spot(self._machines.group(node.pool)):
            node.noticed, wait = self._clock.now, self._facts.notice
            self._notice(node_name(node))
        else:
            wait = REPLACED
            self._drain(node_name(node))
        self._clock.after(wait, lambda: self._replace(node, left))

    def _replace(self, node: record.Node, left: list[record.Node]) -> None:
        if not self._machines.has(node):
            self._next(left)
            return
        name, group = node_name(node), self._machines.group(node.pool)
        self._machines.lose([name], "upgraded")
        self._end(name)
        if self._facts.replaced and is_spot(group):
            self._following[name] = lambda: self._next(left)  # the cloud recreates it
            return
        before = set(self._machines.nodes)
        if group.most is not None and len(self._machines.group(node.pool).nodes) < group.most:
            try:
                self._machines.grow(group, 1)
            except ScaleRefused:
                return  # An upgrade without a new machine stops; the autoscaler serves the pods.
        for new in self._machines.nodes.keys() - before:
            self._following[new] = lambda: self._next(left)
            return
        self._next(left)
