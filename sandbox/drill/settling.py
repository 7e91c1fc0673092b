"""Settling: the wait until the real scheduler and controllers have done all that they will do at this moment of the drill's clock.

What is awaited follows from the objects themselves: every workload has its pods, every new node its DaemonSets' pods, and every pod that
fits on a node is bound. A pod that the scheduler leaves although it seems to fit is waited for only once.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from sandbox.cluster.autoscaler import resources
from sandbox.cluster.autoscaler.fit import misfit
from sandbox.drill.observed import Observed, controller
from sandbox.drill.workloads import WORK
from sandbox.kubernetes.client import Object

_QUIET = 6.0
"""Real seconds without any change after which what is still missing will not come: the Job controller gathers changes for one second."""

_DAEMONS = [
    {"key": f"node.kubernetes.io/{condition}", "operator": "Exists"}
    for condition in ("not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
]


@dataclass
class Node:
    """A node's free resources."""

    body: Object
    free: dict[str, Decimal]
    open: bool


@dataclass
class Settling:
    """What is missing. `expected` has the least number of pods of each workload that must exist, by its annotation."""

    observed: Observed
    expected: dict[str, Callable[[], int]] = field(default_factory=dict)
    active: dict[str, set[str]] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    pending: dict[str, Object] = field(default_factory=dict)
    charged: dict[str, tuple[str, dict[str, Decimal]]] = field(default_factory=dict)
    daemons: dict[str, set[str]] = field(default_factory=dict)
    """DaemonSets with a pod, by node."""
    abandoned: set[Any] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    waited: float = 0.0
    _requests: dict[str, dict[str, Decimal]] = field(default_factory=dict)
    _classes: dict[str, str] = field(default_factory=dict)
    _misfits: dict[tuple[str, str], bool] = field(default_factory=dict)

    def seen(self, kind: str, before: Object | None, after: Object | None) -> None:
        """An object is new, changed, or gone."""
        if kind == "Pod":
            self._pod(before, after)
        elif kind == "Node":
            self._node(before, after)

    def settle(self) -> None:
        """Wait until nothing is missing."""
        began = last = time.monotonic()
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
                self.notes.append(f"did not come within {_QUIET:.0f} s: {', '.join(sorted(map(str, missing)))[:300]}")
        self.waited += time.monotonic() - began

    def _pod(self, before: Object | None, after: Object | None) -> None:
        pod = after or before
        assert pod is not None
        uid = pod["metadata"]["uid"]
        ended = after is None or (after.get("status") or {}).get("phase") in ("Succeeded", "Failed")
        workload = (pod["metadata"].get("annotations") or {}).get(WORK)
        if workload:
            uids = self.active.setdefault(workload, set())
            (uids.discard if ended else uids.add)(uid)
        node = None if ended or after is None else after["spec"].get("nodeName")
        charged = self.charged.get(uid)
        if charged and (node is None or charged[0] != node):
            del self.charged[uid]
            if charged[0] in self.nodes:
                self.nodes[charged[0]].free = resources.total([self.nodes[charged[0]].free, charged[1]])
            self.abandoned = {each for each in self.abandoned if not isinstance(each, tuple)}
        if node and uid not in self.charged:
            needs = resources.requests(pod["spec"])
            self.charged[uid] = (node, needs)
            if node in self.nodes:
                self.nodes[node].free = resources.less(self.nodes[node].free, needs)
        if ended or node:
            self.pending.pop(uid, None)
            self._classes.pop(uid, None)
        else:
            self.pending[uid] = pod
        owner = controller(pod)
        if owner and owner["kind"] == "DaemonSet" and node:
            self.daemons.setdefault(node, set()).add(owner["uid"])

    def _node(self, before: Object | None, after: Object | None) -> None:
        if after is None:
            assert before is not None
            self.nodes.pop(before["metadata"]["name"], None)
            self.daemons.pop(before["metadata"]["name"], None)
            return
        name = after["metadata"]["name"]
        shape = (after["metadata"].get("labels"), after["spec"].get("taints"), after["spec"].get("unschedulable"))
        old = before and (before["metadata"].get("labels"), before["spec"].get("taints"), before["spec"].get("unschedulable"))
        if shape != old or name not in self.nodes:
            self._misfits = {key: value for key, value in self._misfits.items() if key[1] != name}
            self.abandoned = {each for each in self.abandoned if not isinstance(each, tuple)}
        free = resources.of(after["status"].get("allocatable"))
        for where, needs in self.charged.values():
            if where == name:
                free = resources.less(free, needs)
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in after["status"].get("conditions") or [])
        self.nodes[name] = Node(after, free, ready and not after["spec"].get("unschedulable"))

    def _missing(self) -> set[Any]:
        missing: set[Any] = {
            workload
            for workload, number in self.expected.items()
            if len(self.active.get(workload, ())) < number() and workload not in self.abandoned
        }
        classes: dict[str, Object] = {}
        for uid, pod in self.pending.items():
            if uid in self.abandoned or pod["spec"].get("schedulingGates") or pod["metadata"].get("deletionTimestamp"):
                continue
            if not _tried(pod):
                missing.add(uid)
            else:
                classes.setdefault(self._class(uid, pod), pod)
        for name, pod in classes.items():
            if (name, "fits") not in self.abandoned and self._fits(name, pod):
                missing.add((name, "fits"))
        return missing | self._missing_daemons()

    def _missing_daemons(self) -> set[Any]:
        missing = set()
        for name, node in self.nodes.items():
            if not node.open:
                continue
            for uid, body in self.observed.objects["DaemonSet"].items():
                if uid in self.daemons.get(name, ()) or f"{name} {uid}" in self.abandoned:
                    continue
                spec = body["spec"]["template"]["spec"]
                tolerating = {**spec, "tolerations": [*(spec.get("tolerations") or []), *_DAEMONS]}
                if not misfit(tolerating, name, node.body["metadata"]["labels"], node.body["spec"].get("taints") or []):
                    missing.add(f"{name} {uid}")
        return missing

    def _class(self, uid: str, pod: Object) -> str:
        """Pods of one class fit on the same nodes."""
        if uid not in self._classes:
            spec = pod["spec"]
            needs = resources.requests(spec)
            parts = (sorted(needs.items()), spec.get("tolerations"), spec.get("nodeSelector"), spec.get("affinity"))
            self._classes[uid] = repr(parts)
            self._requests[self._classes[uid]] = needs
        return self._classes[uid]

    def _fits(self, name: str, pod: Object) -> bool:
        needs = self._requests[name]
        return any(
            node.open and not resources.shortage(needs, node.free) and self._allowed(name, pod, key, node)
            for key, node in self.nodes.items()
        )

    def _allowed(self, name: str, pod: Object, key: str, node: Node) -> bool:
        if (name, key) not in self._misfits:
            labels: Mapping[str, str] = node.body["metadata"]["labels"]
            self._misfits[name, key] = not misfit(pod["spec"], key, labels, node.body["spec"].get("taints") or [])
        return self._misfits[name, key]


def _tried(pod: Object) -> bool:
    """Whether the scheduler has looked at a pod."""
    return any(condition["type"] == "PodScheduled" for condition in (pod.get("status") or {}).get("conditions") or [])
