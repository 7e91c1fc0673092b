"""Which nodes are empty, and for how long: those may go."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from typing import Any

from sandbox.autoscaler.rooms import Object, ended, of_node
from sandbox.fleet import NodeGroup

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
        self, now: float, groups: Iterable[NodeGroup], profile: Mapping[str, Any], factor: float
    ) -> dict[str, list[str]]:
        """The nodes to remove by pool id, the longest empty first, as far as each pool's minimum allows.

        `profile` is AKS' (scaleDownUnneededTime, scaleDownDelayAfterAdd), whose times pass `factor` times faster.
        """
        if now - self.grown < seconds(profile["scaleDownDelayAfterAdd"]) / factor:
            return {}
        long = seconds(profile["scaleDownUnneededTime"]) / factor
        found = {}
        for group in groups:
            if group.least is None:
                continue
            ripe = [name for name in group.nodes if name in self._since and now - self._since[name] >= long]
            ripe.sort(key=lambda name: (self._since[name], name))
            if going := ripe[: max(0, len(group.nodes) - group.least)]:
                found[group.pool_id] = going
        return found
