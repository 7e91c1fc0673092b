"""Active migration of GKE: pods of a ComputeClass move to the pools of an earlier rule as soon as these can take them.

Page about-custom-compute-classes (activeMigration.optimizeRulePriority): it evicts running pods, and honours PodDisruptionBudgets
and `safe-to-evict: "false"`. No page gives its pace: it looks in each scan and moves the pods of one node at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from sandbox.autoscaler import packing, rooms
from sandbox.autoscaler.drainable import Drain
from sandbox.autoscaler.rooms import Room
from sandbox.autoscaler.shapes import PodInfo
from sandbox.autoscaler.snapshot import Node, Snapshot
from sandbox.cloud.node_groups import NodeGroup

Rank = Mapping[str, tuple[str, int]]
"""The class of each group that takes part, and the number of its rule."""


@dataclass(frozen=True)
class Move:
    """A node whose pods move now (`node`), or a group that must grow before (`group`)."""

    moving: Sequence[PodInfo]
    node: Node | None = None
    group: NodeGroup | None = None
    by: int = 0


def next_move(
    snapshot: Snapshot,
    ranks: Rank,
    templates: Mapping[str, Room],
    stopped: Set[str],
    upcoming: Mapping[str, Sequence[str]],
    drain: Drain,
    busy: Set[str],
) -> Move | None:
    """Return the next step; None where every pod runs as early in its class as it can.

    `stopped` groups cannot grow, `upcoming` ones have machines on their way, `busy` nodes are left out.
    """
    for node, better in _candidates(snapshot, ranks, busy):
        leaving = drain.pods(node)
        moving = leaving.moving
        if leaving.reason or leaving.ending or not moving:
            continue
        everywhere = rooms.of_all(snapshot, node.name) if snapshot.tied else {}
        free = [
            everywhere.get(name) or rooms.room(each)
            for group in better
            for name in group.nodes
            if name not in busy and (each := snapshot.nodes.get(name)) and each.ready and rooms.open_to_pods(each)
        ]
        scene = list(everywhere.values())
        if _fit(moving, free, scene):
            return Move(moving, node=node)
        if any(group.name in upcoming for group in better):
            continue  # room is on its way
        for group in better:
            most = (group.most or 0) - len(group.nodes)
            if group.name in stopped or most < 1:
                continue
            by, taken, _ = packing.estimate(moving, templates[group.name], most, scene)
            if len(taken) == len(moving):
                return Move(moving, group=group, by=by)
    return None


def _candidates(snapshot: Snapshot, ranks: Rank, busy: Set[str]) -> Iterator[tuple[Node, list[NodeGroup]]]:
    """Yield the nodes of later rules, latest rule first, with the groups of earlier rules of their class, first rule first."""
    for name, (own, number) in sorted(ranks.items(), key=lambda item: -item[1][1]):
        better = sorted(
            (other for other, (of, earlier) in ranks.items() if of == own and earlier < number),
            key=lambda other: ranks[other][1],
        )
        for node_name in snapshot.groups[name].nodes if better else ():
            node = snapshot.nodes.get(node_name)
            if node is not None and node.ready and node_name not in busy:
                yield node, [snapshot.groups[other] for other in better]


def _fit(pods: Sequence[PodInfo], free: Sequence[Room], scene: Sequence[Room]) -> bool:
    """Return whether all pods fit together. `scene` are the rooms of all nodes, those of `free` too."""
    for shape, equal in packing.batches(pods):
        if sum(count for _, count in packing.fill(shape, len(equal), free, scene)) < len(equal):
            return False
    return True
