"""Settling: the wait until the real scheduler and controllers have done all that is due now.

What is awaited follows from the objects: every workload has its pods, every new node its
DaemonSets' pods, and every pod that fits on a node is bound. A pod that the scheduler leaves
although it seems to fit is awaited only once.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from drill.play.observed import Observed, controller
from drill.world.workloads import WORK
from sandbox.autoscaler import resources
from sandbox.autoscaler.fit import daemon_fits, misfit, reports_ready
from sandbox.kubernetes.client import Object

_QUIET = 6.0
"""Real seconds without any change after which what is missing will not come. The Job controller
gathers changes for one."""


@dataclass
class Node:
    """A node's free resources."""

    body: Object
    free: dict[str, Decimal]
    open: bool


@dataclass
class Settling:
    """What is missing: `settling.settle()` waits for it.

    `expected` has the least number of pods of each workload, by its annotation.
    """

    observed: Observed
    expected: dict[str, Callable[[], int]] = field(default_factory=dict)
    active: dict[str, set[str]] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    charged: dict[str, tuple[str, dict[str, Decimal]]] = field(default_factory=dict)
    """The node and the requests of each pod on a node."""
    on_node: dict[str, set[str]] = field(default_factory=dict)
    untried: set[str] = field(default_factory=set)
    """Pending pods at which the scheduler has not looked yet."""
    waiting: dict[str, dict[str, Object]] = field(default_factory=dict)
    """Pending pods by class; those of one class fit on the same nodes."""
    bare: set[str] = field(default_factory=set)
    """Nodes that may lack a DaemonSet's pod."""
    short: set[str] = field(default_factory=set)
    """Workloads that may lack a pod."""
    daemons: dict[str, set[str]] = field(default_factory=dict)
    """DaemonSets with a pod, by node."""
    abandoned: set[Any] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    _requests: dict[str, dict[str, Decimal]] = field(default_factory=dict)
    _classes: dict[str, str] = field(default_factory=dict)
    _misfits: dict[tuple[str, str], bool] = field(default_factory=dict)
    _left: set[str] = field(default_factory=set)
    """Pods that the scheduler found no node for."""
    _new_left: bool = False
    _full: set[str] = field(default_factory=set)
    """Classes that fit on no node, until there is more room."""

    def note_change(self, kind: str, before: Object | None, after: Object | None) -> None:
        """Take note of an object that is new, changed or gone."""
        if kind == "Pod":
            self._pod(before, after)
        elif kind == "Node":
            self._node(before, after)

    def settle(self) -> None:
        """Wait until nothing is missing."""
        last = time.monotonic()
        while True:
            self.observed.flush()
            changed = self.observed.drain(0.0)
            missing = self._missing()
            if not missing:
                break
            if changed or self.observed.drain(0.02):
                last = time.monotonic()
            elif time.monotonic() - last > _QUIET:
                self.abandoned |= missing
                names = ", ".join(sorted(map(str, missing)))[:300]
                self.notes.append(f"did not come within {_QUIET:.0f} s: {names}")

    def newly_unschedulable(self) -> bool:
        """Return whether the scheduler found no node for a further pod since the last call."""
        new, self._new_left = self._new_left, False
        return new

    def _pod(self, before: Object | None, after: Object | None) -> None:
        pod = after or before
        assert pod is not None
        uid = pod["metadata"]["uid"]
        ended = after is None or (after.get("status") or {}).get("phase") in ("Succeeded", "Failed")
        workload = (pod["metadata"].get("annotations") or {}).get(WORK)
        if workload:
            uids = self.active.setdefault(workload, set())
            replaced = ended or _replaced(pod)
            (uids.discard if replaced else uids.add)(uid)
            if replaced:
                self.short.add(workload)
        node = None if ended or after is None else after["spec"].get("nodeName")
        if uid in self.charged and self.charged[uid][0] != node:
            self._release(uid)
        if node and uid not in self.charged:
            self._charge(uid, node, pod)
        name = self._classes.get(uid)
        if ended or node:
            self.untried.discard(uid)
            self._left.discard(uid)
            self._classes.pop(uid, None)
            if name is not None:
                self.waiting[name].pop(uid, None)
        else:
            name = self._class(uid, pod)
            self.waiting.setdefault(name, {})[uid] = pod
            if _tried(pod) and uid not in self._left:
                self._left.add(uid)
                self._new_left = True
            (self.untried.discard if _tried(pod) or _held(pod) else self.untried.add)(uid)
        owner = controller(pod)
        if owner and owner["kind"] == "DaemonSet" and node:
            self.daemons.setdefault(node, set()).add(owner["uid"])

    def _charge(self, uid: str, node: str, pod: Object) -> None:
        needs = self._requests.get(self._classes.get(uid, "")) or resources.requests(pod["spec"])
        self.charged[uid] = (node, needs)
        self.on_node.setdefault(node, set()).add(uid)
        if node in self.nodes:
            self.nodes[node].free = resources.less(self.nodes[node].free, needs)

    def _release(self, uid: str) -> None:
        node, needs = self.charged.pop(uid)
        self.on_node[node].discard(uid)
        if node in self.nodes:
            self.nodes[node].free = resources.total([self.nodes[node].free, needs])
        self._roomier()

    def _roomier(self) -> None:
        self._full.clear()
        self.abandoned = {each for each in self.abandoned if not isinstance(each, tuple)}

    def _node(self, before: Object | None, after: Object | None) -> None:
        if after is None:
            assert before is not None
            name = before["metadata"]["name"]
            self.nodes.pop(name, None)
            self.daemons.pop(name, None)
            self.bare.discard(name)
            self._misfits = {key: value for key, value in self._misfits.items() if key[1] != name}
            return
        name = after["metadata"]["name"]
        if before is not None and _shape(before) == _shape(after) and name in self.nodes:
            self.nodes[name].body = after
            return
        for known in self._requests:
            self._misfits.pop((known, name), None)
        free = resources.amounts(after["status"].get("allocatable"))
        for uid in self.on_node.get(name, ()):
            free = resources.less(free, self.charged[uid][1])
        is_open = reports_ready(after) and not after["spec"].get("unschedulable")
        self.nodes[name] = Node(after, free, is_open)
        self.bare.add(name)
        self._roomier()

    def _missing(self) -> set[Any]:
        missing: set[Any] = set()
        for workload in list(self.short):
            wanted = self.expected.get(workload)
            if wanted is None or len(self.active.get(workload, ())) >= wanted():
                self.short.discard(workload)
            elif workload not in self.abandoned:
                missing.add(workload)
        missing |= self.untried - self.abandoned
        for name, pods in self.waiting.items():
            if not pods or name in self._full or (name, "fits") in self.abandoned:
                continue
            tried = (pod for uid, pod in pods.items() if uid not in self.untried)
            pod = next((pod for pod in tried if not _held(pod)), None)
            if pod is None:
                continue
            if self._fits(name, pod):
                missing.add((name, "fits"))
            else:
                self._full.add(name)
        return missing | self._missing_daemons()

    def _missing_daemons(self) -> set[Any]:
        missing = set()
        for name in list(self.bare):
            node = self.nodes[name]
            lacking = {
                f"{name} {uid}"
                for uid, body in self.observed.objects["DaemonSet"].items()
                if node.open and uid not in self.daemons.get(name, ()) and _runs_on(body, node.body)
            }
            if not lacking - self.abandoned:
                self.bare.discard(name)
            missing |= lacking - self.abandoned
        return missing

    def _class(self, uid: str, pod: Object) -> str:
        """Return a pod's class: pods of one class fit on the same nodes."""
        if uid not in self._classes:
            spec = pod["spec"]
            needs = resources.requests(spec)
            terms = [spec.get(key) for key in ("tolerations", "nodeSelector", "affinity")]
            self._classes[uid] = repr((sorted(needs.items()), terms))
            self._requests[self._classes[uid]] = needs
        return self._classes[uid]

    def _fits(self, name: str, pod: Object) -> bool:
        needs = self._requests[name]
        return any(
            node.open
            and not resources.shortage(needs, node.free)
            and self._allowed(name, pod, key, node)
            for key, node in self.nodes.items()
        )

    def _allowed(self, name: str, pod: Object, key: str, node: Node) -> bool:
        if (name, key) not in self._misfits:
            labels, taints = node.body["metadata"]["labels"], node.body["spec"].get("taints") or []
            self._misfits[name, key] = not misfit(pod["spec"], key, labels, taints)
        return self._misfits[name, key]


def _tried(pod: Object) -> bool:
    """Return whether the scheduler has looked at a pod."""
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(each["type"] == "PodScheduled" for each in conditions)


def _replaced(pod: Object) -> bool:
    """Return whether a pod is replaced before it has ended, as a ReplicaSet does."""
    owner = controller(pod)
    leaving = pod["metadata"].get("deletionTimestamp")
    return bool(leaving and owner and owner["kind"] == "ReplicaSet")


def _held(pod: Object) -> bool:
    """Return whether the scheduler passes over a pod."""
    return bool(pod["spec"].get("schedulingGates") or pod["metadata"].get("deletionTimestamp"))


def _shape(node: Object) -> tuple[Any, ...]:
    """Return what the scheduler reads of a node."""
    status, spec = node["status"], node["spec"]
    ready = [c["status"] for c in status.get("conditions") or [] if c["type"] == "Ready"]
    fields = (spec.get("taints"), spec.get("unschedulable"), status.get("allocatable"))
    return (node["metadata"].get("labels"), *fields, ready)


def _runs_on(daemon_set: Object, node: Object) -> bool:
    """Return whether a DaemonSet runs a pod on a node."""
    metadata, taints = node["metadata"], node["spec"].get("taints") or []
    spec = daemon_set["spec"]["template"]["spec"]
    return daemon_fits(spec, metadata["name"], metadata["labels"], taints)
