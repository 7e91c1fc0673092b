"""Idle nodes: empty ones, since when, and those that may be removed."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any

from sandbox.cloud.node_groups import NodeGroup
from sandbox.cluster.autoscaler.node_capacity import Object, ended, of_node

# cluster-autoscaler FAQ, "How can I prevent Cluster Autoscaler from scaling down a particular node?"
_KEPT = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
_UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds(text: str) -> int:
    """Seconds of a text such as `10m`. Raises ValueError."""
    match = re.fullmatch(r"(\d+)([smh])", text)
    if match is None:
        raise ValueError(f"{text!r} is not a time such as 10m")
    return int(match[1]) * _UNITS[match[2]]


def empty(nodes: Iterable[Object], pods: Iterable[Object], needed: Set[str]) -> set[str]:
    """The nodes that run only pods of every node, that no waiting pod will use, and that no annotation keeps."""
    busy = {pod["spec"].get("nodeName") for pod in pods if not ended(pod) and not of_node(pod)}
    kept = {n["metadata"]["name"] for n in nodes if (n["metadata"].get("annotations") or {}).get(_KEPT) == "true"}
    return {node["metadata"]["name"] for node in nodes} - busy - needed - kept


class Idle:
    """The empty nodes, and since when each is empty. Times are seconds of any one clock."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self.grown = float("-inf")
        """The time of the last growth of a pool."""

    def observe(self, now: float, names: Set[str]) -> None:
        """Note the empty nodes of a scan."""
        self._since = {name: self._since.get(name, now) for name in names}

    def due(
        self, now: float, groups: Collection[NodeGroup], profile: Mapping[str, Any], factor: float
    ) -> dict[str, list[str]]:
        """The nodes to remove by pool id, the longest empty first, down to each pool's minimum; never all of a cluster.

        `groups` are all groups of the cluster. `profile` has AKS' keys (scaleDownUnneededTime, scaleDownDelayAfterAdd); its times
        are divided by `factor`.
        """
        if now - self.grown < seconds(profile["scaleDownDelayAfterAdd"]) / factor:
            return {}
        wait = seconds(profile["scaleDownUnneededTime"]) / factor
        # GKE, about-cluster-autoscaler: a pool can reach 0, the cluster cannot. AKS always has a system pool of one.
        spare = sum(len(group.nodes) for group in groups) - 1
        due = {}
        for group in groups:
            if group.least is None:
                continue
            ripe = [name for name in group.nodes if name in self._since and now - self._since[name] >= wait]
            ripe.sort(key=lambda name: (self._since[name], name))
            if going := _allowed(group, group.least, ripe)[: max(0, spare)]:
                due[group.pool_id] = going
                spare -= len(going)
        return due


def _allowed(group: NodeGroup, least: int, ripe: Sequence[str]) -> list[str]:
    """As many of these nodes, in order, as the group and each of its zones can spare."""
    floors = [(frozenset(group.nodes), least), *group.floors]
    going: list[str] = []
    for name in ripe:
        if all(name not in nodes or len(nodes.difference(going)) > floor for nodes, floor in floors):
            going.append(name)
    return going
