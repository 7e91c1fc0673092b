"""A snapshot: the world of one scan, indexed, with what earlier scans computed of pods that did not change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sandbox.autoscaler.neighbours import Terms
from sandbox.autoscaler.shapes import GPU_RESOURCES, Amounts, PodInfo, Shape, Shapes, amounts
from sandbox.autoscaler.world import World
from sandbox.cloud.node_groups import NodeGroup

Object = Mapping[str, Any]

TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
"""The key of the autoscaler's taint of nodes that it is about to remove."""

STARTUP_TAINTS = (
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
)
"""The beginnings of taints of a node that is still starting (utils/taints/taints.go)."""

_ENDED = ("Succeeded", "Failed")
# utils/kubernetes/ready.go.
_PROBLEMS = {"DiskPressure", "NetworkUnavailable"}
_UNREADY_TAINTS = {f"node.kubernetes.io/{name}" for name in ("not-ready", "disk-pressure", "network-unavailable")}


@dataclass
class Node:
    """A registered node."""

    name: str
    body: Object
    group: NodeGroup | None
    ready: bool
    since: float
    """The time at which it registered."""
    ready_since: float = float("inf")
    """The time at which it was first seen to be ready; for the first scan of a process the time at which it registered."""
    pods: Sequence[PodInfo] = ()
    used: Amounts = field(default_factory=dict)
    """The requests of its pods together."""

    @property
    def allocatable(self) -> Amounts:
        return amounts(self.body["status"].get("allocatable") or {})

    @property
    def taints(self) -> Sequence[Object]:
        return self.body["spec"].get("taints") or ()

    @property
    def labels(self) -> Mapping[str, str]:
        return self.body["metadata"].get("labels") or {}


@dataclass
class Snapshot:
    """The world of one scan."""

    now: float
    world: World
    nodes: Mapping[str, Node]
    groups: Mapping[str, NodeGroup]
    """Groups by name."""
    group_of: Mapping[str, NodeGroup]
    """The group of each machine, by its node's name."""
    waiting: Sequence[PodInfo]
    """Pods that the scheduler found no node for, as far as the autoscaler cares."""
    daemons: Sequence[Shape] = ()
    """A pod of each DaemonSet."""
    tied: bool = False
    """Whether any pod has rules about other pods."""

    def without(self, names: Collection[str]) -> Snapshot:
        """Return the snapshot after these machines were removed."""
        if not names:
            return self
        groups = {
            name: replace(group, nodes=tuple(node for node in group.nodes if node not in names))
            if not set(names).isdisjoint(group.nodes)
            else group
            for name, group in self.groups.items()
        }
        group_of = {name: group for group in groups.values() for name in group.nodes}
        nodes = {name: node for name, node in self.nodes.items() if name not in names}
        for node in nodes.values():
            node.group = group_of.get(node.name)
        world = replace(self.world, groups=list(groups.values()))
        return replace(self, world=world, nodes=nodes, groups=groups, group_of=group_of)

    def since(self, pod: PodInfo) -> float:
        """Return the time at which a pod appeared; now where nobody knows."""
        return self.world.since.get(pod.uid, self.now)


class Snapshots:
    """Makes the snapshots of one cluster, one after the other."""

    def __init__(self, cutoff: int) -> None:
        self._cutoff = cutoff
        self._shapes = Shapes()
        self._pods: dict[Any, PodInfo] = {}
        self._used: dict[str, tuple[list[PodInfo], Amounts]] = {}
        self._terms, self._tied = Terms(), False
        self._of_daemon_sets: dict[int, tuple[Object, PodInfo]] = {}
        self._ready: dict[str, float] | None = None
        """Since when nodes are ready, by uid or name; None before the first scan."""

    def take(self, now: float, world: World) -> Snapshot:
        """Return the snapshot of a world."""
        on, waiting = self._index(now, world.pods)
        daemons = self._daemons(world.daemon_sets)
        if self._tied:
            self._shapes.bind((*self._pods.values(), *daemons), self._terms)
        group_of = {name: group for group in world.groups for name in group.nodes}
        used: dict[str, tuple[list[PodInfo], Amounts]] = {}
        nodes: dict[str, Node] = {}
        became_ready: dict[str, float] = {}
        for body in world.nodes:
            metadata = body["metadata"]
            name, group = metadata["name"], group_of.get(metadata["name"])
            since = world.since.get(metadata.get("uid"), float("-inf"))
            node = Node(name, body, group, ready(body, group), since)
            if pods := on.get(name):
                before = self._used.get(name)
                used[name] = before if before is not None and before[0] == pods else (pods, _total(pods))
                node.pods, node.used = used[name]
            if node.ready:
                first = since if self._ready is None else self._ready.get(metadata.get("uid", name), now)
                node.ready_since = became_ready[metadata.get("uid", name)] = first
            nodes[name] = node
        self._used, self._ready = used, became_ready
        groups = {group.name: group for group in world.groups}
        return Snapshot(
            now, world, nodes, groups, group_of, waiting, [daemon.shape for daemon in daemons], tied=self._tied
        )

    def _daemons(self, daemon_sets: Iterable[Object]) -> list[PodInfo]:
        """Return a pod of each DaemonSet as it would run on a new node."""
        before, self._of_daemon_sets = self._of_daemon_sets, {}
        for body in daemon_sets:
            known = before.get(id(body))
            self._of_daemon_sets[id(body)] = known or (body, self._pod_info(None, _daemon(body)))
        return [info for _, info in self._of_daemon_sets.values()]

    def _pod_info(self, uid: Any, pod: Object) -> PodInfo:
        info = PodInfo(uid, pod, self._shapes.of(pod))
        if info.rules is not None:
            self._tied = True
            self._terms.learn(info.rules)
        return info

    def _index(self, now: float, pods: Iterable[Object]) -> tuple[dict[str, list[PodInfo]], list[PodInfo]]:
        """Return the pods by node, and those that wait."""
        known, before = {}, self._pods
        on: dict[str, list[PodInfo]] = {}
        waiting = []
        for pod in pods:
            metadata, spec = pod["metadata"], pod["spec"]
            uid = metadata.get("uid") or (metadata["namespace"], metadata["name"])
            info = before.get(uid)
            if info is None or (info.pod is not pod and info.tolerations != spec.get("tolerations")):
                info = self._pod_info(uid, pod)
            elif info.pod is not pod:
                if info.metadata.get("labels") != metadata.get("labels"):
                    info.version = -1
                info.pod, info.metadata = pod, metadata
            known[uid] = info
            status = pod.get("status") or {}
            if status.get("phase") in _ENDED or info.shape.priority < self._cutoff:
                continue
            if metadata.get("deletionTimestamp") and info.terminating is None:
                info.terminating = now
            node = spec.get("nodeName") or status.get("nominatedNodeName")
            if node:
                if node in on:
                    on[node].append(info)
                else:
                    on[node] = [info]
            elif unschedulable(info):
                waiting.append(info)
        self._pods = known
        self._shapes.forget(info.base for info in known.values())
        return on, waiting


def unschedulable(info: PodInfo) -> bool:
    """Return whether the scheduler found no node for a pod without one. DaemonSets' pods have their nodes."""
    if info.of_node or info.metadata.get("deletionTimestamp"):
        return False
    return any(
        condition["type"] == "PodScheduled"
        and condition["status"] == "False"
        and condition.get("reason") == "Unschedulable"
        for condition in (info.pod.get("status") or {}).get("conditions") or ()
    )


def ready(body: Object, group: NodeGroup | None) -> bool:
    """Return whether a node is ready; one of a GPU pool reports its GPUs first (processors/customresources/gpu_processor.go)."""
    status = body["status"]
    reported = False
    for condition in status.get("conditions") or ():
        kind = condition["type"]
        if kind == "Ready":
            reported = condition["status"] == "True"
            if not reported:
                return False
        elif kind in _PROBLEMS and condition["status"] == "True":
            return False
    for taint in body["spec"].get("taints") or ():
        if taint["key"] in _UNREADY_TAINTS or taint["key"].startswith(STARTUP_TAINTS):
            return False
    if group is not None and group.gpus is not None:
        allocatable = status.get("allocatable") or {}
        return reported and any(str(allocatable.get(name, "0")) != "0" for name in GPU_RESOURCES)
    return reported


def _daemon(daemon_set: Object) -> Object:
    """Return a pod of a DaemonSet."""
    template = daemon_set["spec"]["template"]
    metadata = {
        "namespace": (daemon_set.get("metadata") or {}).get("namespace", ""),
        "name": "",
        "labels": (template.get("metadata") or {}).get("labels") or {},
    }
    return {"metadata": metadata, "spec": template["spec"]}


def _total(pods: Sequence[PodInfo]) -> Amounts:
    total: Amounts = {}
    for pod in pods:
        for name, asked in pod.shape.requests.items():
            total[name] = total.get(name, 0) + asked
    return total
