"""Which nodes are empty, and for how long: those may go."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any

from sandbox.cloud.node_groups import NodeGroup
from sandbox.cluster.autoscaler.rooms import Object, ended, of_node

# cluster-autoscaler FAQ, "How can I prevent Cluster Autoscaler from scaling down a particular node?"
_KEPT = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
_UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds(text: str) -> int:
    """`10m` is 600. Raises ValueError."""
    found = re.fullmatch(r"(\d+)([smh])", text)
    if found is None:
        raise ValueError(f"{text!r} is not a time such as 10m")
    return int(found[1]) * _UNITS[found[2]]


def empty(nodes: Iterable[Object], pods: Iterable[Object], needed: Set[str]) -> set[str]:
    """The nodes on which runs nothing but what belongs to every node, and that no waiting pod will use."""
    busy = {pod["spec"].get("nodeName") for pod in pods if not ended(pod) and not of_node(pod)}
    kept = {n["metadata"]["name"] for n in nodes if (n["metadata"].get("annotations") or {}).get(_KEPT) == "true"}
    return {node["metadata"]["name"] for node in nodes} - busy - needed - kept


class Idle:
    """Since when each empty node has been empty. Times are seconds of any one clock."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self.grown = float("-inf")
        """When a pool last grew."""

    def see(self, now: float, names: Set[str]) -> None:
        """Note which nodes are empty now."""
        self._since = {name: self._since.get(name, now) for name in names}

    def due(
        self, now: float, groups: Collection[NodeGroup], profile: Mapping[str, Any], factor: float
    ) -> dict[str, list[str]]:
        """The nodes to remove by pool id, the longest empty first, as far as each pool's minimum allows; never all of a cluster.

        `groups` are all of the cluster's. `profile` is AKS' (scaleDownUnneededTime, scaleDownDelayAfterAdd), whose times pass
        `factor` times faster.
        """
        if now - self.grown < seconds(profile["scaleDownDelayAfterAdd"]) / factor:
            return {}
        long = seconds(profile["scaleDownUnneededTime"]) / factor
        # GKE, about-cluster-autoscaler: a pool can reach 0, the cluster cannot. AKS always has a system pool of one.
        spare = sum(len(group.nodes) for group in groups) - 1
        found = {}
        for group in groups:
            if group.least is None:
                continue
            ripe = [name for name in group.nodes if name in self._since and now - self._since[name] >= long]
            ripe.sort(key=lambda name: (self._since[name], name))
            if going := _allowed(group, group.least, ripe)[: max(0, spare)]:
                found[group.pool_id] = going
                spare -= len(going)
        return found


def _allowed(group: NodeGroup, least: int, ripe: Sequence[str]) -> list[str]:
    """As many of these nodes, in order, as the group and each of its zones can miss."""
    floors = [(frozenset(group.nodes), least), *group.floors]
    going: list[str] = []
    for name in ripe:
        if all(name not in nodes or len(nodes.difference(going)) > floor for nodes, floor in floors):
            going.append(name)
    return going
