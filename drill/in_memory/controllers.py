"""The scheduler and the controllers of a drill in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from drill.in_memory.objects import Objects
from drill.play.observed import controller
from drill.play.settling import Node
from drill.world.workloads import INDEX
from sandbox.autoscaler import resources
from sandbox.autoscaler.fit import daemon_fits, matches, misfit, reports_ready
from sandbox.autoscaler.shapes import Amounts, amounts
from sandbox.kubernetes.client import Object

_ENDED = ("Succeeded", "Failed")
_LEFT = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
_TOLERATED = [{"operator": "Exists"}]


class Controllers:
    """The calls of `Settling`: `controllers.settle()` does at once what is due.

    The scheduler follows Kubernetes' default one as far as a drill's work needs it: pods in the
    order of their creation, nodes that fit, and of these the one with the highest sum of
    NodeAffinity (weight 2) and NodeResourcesFit (least allocated, weight 1) (kubernetes,
    pkg/scheduler/apis/config/v1/default_plugins.go).
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self.expected: dict[str, Callable[[], int]] = {}
        self.short: set[str] = set()
        self.nodes: dict[str, Node] = {}
        self.notes: list[str] = []
        self._free: dict[str, Amounts] = {}
        self._whole: dict[str, Amounts] = {}
        self._placed: dict[str, tuple[str, Amounts]] = {}
        self._pending: dict[str, Object] = {}
        self._daemons: set[tuple[str, str]] = set()
        self._of_owner: dict[str, dict[str, Object]] = {}
        self._done: dict[str, set[int]] = {}
        """The indices of each Job that have succeeded."""
        self._asked: dict[str, tuple[Amounts, str]] = {}
        """The requests of each waiting pod, and its other terms as a text."""
        self._owners: set[str] = set()
        self._new_left = False
        self._dirty = self._bare = False
        self._number = 0

    def note_change(self, kind: str, before: Object | None, after: Object | None) -> None:
        """Take note of an object that is new, changed or gone."""
        if kind == "Pod":
            self._pod(before, after)
        elif kind == "Node":
            self._node(before, after)

    def newly_unschedulable(self) -> bool:
        """Return whether the scheduler found no node for a further pod since the last call."""
        new, self._new_left = self._new_left, False
        return new

    def settle(self) -> None:
        """Do all that is due."""
        while True:
            self._objects.flush()
            if not (self._replace_pods() | self._run_daemons() | self._schedule()):
                return

    def add_owner(self, owner: Object) -> None:
        """Add a workload, which gets its pods at the next `settle`."""
        self._owners.add(owner["metadata"]["uid"])

    def _pod(self, before: Object | None, after: Object | None) -> None:
        pod = after or before
        assert pod is not None
        uid, owner = pod["metadata"]["uid"], controller(pod)
        ended = after is None or (after.get("status") or {}).get("phase") in _ENDED
        node = None if ended or after is None else after["spec"].get("nodeName")
        if uid in self._placed and self._placed[uid][0] != node:
            name, needs = self._placed.pop(uid)
            if name in self._free:
                _take(self._free[name], needs, -1)
            self._dirty = True
        if node and uid not in self._placed:
            needs = self._asked.pop(uid, (None, ""))[0] or _needs(pod)
            self._placed[uid] = node, needs
            if node in self._free:
                _take(self._free[node], needs)
        if ended or node or pod["metadata"].get("deletionTimestamp"):
            self._pending.pop(uid, None)
            self._asked.pop(uid, None)
        else:
            self._dirty = self._dirty or uid not in self._pending
            self._pending[uid] = pod
        if owner is None:
            return
        if owner["kind"] == "DaemonSet":
            if ended:
                self._daemons.discard((owner["uid"], pod["spec"]["nodeName"]))
                self._bare = True
            return
        own = self._of_owner.setdefault(owner["uid"], {})
        if after is None:
            own.pop(uid, None)
        else:
            own[uid] = after
            if owner["kind"] == "Job" and after["status"].get("phase") == "Succeeded":
                self._done.setdefault(owner["uid"], set()).add(_index(after))
        if ended:
            self._owners.add(owner["uid"])

    def _node(self, before: Object | None, after: Object | None) -> None:
        self._dirty = self._bare = True
        if after is None:
            assert before is not None
            name = before["metadata"]["name"]
            for known in (self.nodes, self._free, self._whole):
                known.pop(name, None)
            self._daemons = {key for key in self._daemons if key[1] != name}
            return
        name = after["metadata"]["name"]
        is_open = reports_ready(after) and not after["spec"].get("unschedulable")
        self.nodes[name] = Node(after, {}, is_open)
        whole = amounts(after["status"].get("allocatable") or {})
        if self._whole.get(name) != whole:
            self._whole[name], self._free[name] = whole, dict(whole)
            for place, needs in self._placed.values():
                if place == name:
                    _take(self._free[name], needs)

    def _replace_pods(self) -> bool:
        owners, self._owners = self._owners, set()
        made = False
        for kind in _CONTROLLERS:
            known = self._objects.objects[kind]
            for uid in sorted(owners & known.keys(), key=lambda uid: int(uid.rpartition("-")[2])):
                for index in self._lacking(kind, known[uid]):
                    self._make(kind, known[uid], index)
                    made = True
        return made

    def _lacking(self, kind: str, owner: Object) -> list[int]:
        """List the indices of pods that a workload lacks. Jobs replace a pod when it has ended."""
        spec, own = owner["spec"], self._of_owner.get(owner["metadata"]["uid"], {}).values()
        phases = [(pod, (pod.get("status") or {}).get("phase")) for pod in own]
        if kind == "Job":
            taken = {_index(pod) for pod, phase in phases if phase != "Failed"}
            taken |= self._done.get(owner["metadata"]["uid"], set())
            running = sum(phase not in _ENDED for _, phase in phases)
            left = [each for each in range(spec["completions"]) if each not in taken]
            return left[: max(0, spec["parallelism"] - running)]
        live = [pod for pod, phase in phases if phase not in _ENDED]
        if kind == "Deployment":
            live = [pod for pod in live if not pod["metadata"].get("deletionTimestamp")]
        return list(range(spec["replicas"] - len(live)))

    def _make(self, kind: str, owner: Object, index: int) -> None:
        template = owner["spec"]["template"]
        notes = dict(template["metadata"].get("annotations") or {})
        if kind == "Job":
            notes[INDEX] = str(index)
        name = f"{owner['metadata']['name']}-{index}"
        self._create_pod(owner, _CONTROLLERS[kind], name, template["spec"], {"annotations": notes})

    def _create_pod(
        self, owner: Object, kind: str, name: str, spec: Object, more: Object | None = None
    ) -> None:
        self._number += 1
        template, metadata = owner["spec"]["template"], owner["metadata"]
        version = "batch/v1" if kind == "Job" else "apps/v1"
        reference = {
            "apiVersion": version,
            "kind": kind,
            "name": metadata["name"],
            "uid": metadata["uid"],
        }
        body = {
            "name": f"{name}-{self._number}",
            "namespace": metadata["namespace"],
            "labels": (template.get("metadata") or {}).get("labels") or {},
            "ownerReferences": [{**reference, "controller": True}],
            **(more or {}),
        }
        self._objects.create(
            {"apiVersion": "v1", "kind": "Pod", "metadata": body, "spec": dict(spec)}
        )

    def _run_daemons(self) -> bool:
        if not self._bare:
            return False
        self._bare, made = False, False
        for name, node in list(self.nodes.items()):
            labels, taints = node.body["metadata"]["labels"], node.body["spec"].get("taints") or []
            for uid, body in self._objects.objects["DaemonSet"].items():
                spec = body["spec"]["template"]["spec"]
                if (uid, name) in self._daemons or not daemon_fits(spec, name, labels, taints):
                    continue
                made = True
                self._daemons.add((uid, name))
                # The controller adds tolerations; whether the pod runs here was decided above.
                placed = {**spec, "nodeName": name, "tolerations": _TOLERATED}
                self._create_pod(body, "DaemonSet", body["metadata"]["name"], placed)
        return made

    def _schedule(self) -> bool:
        if not self._dirty:
            return False
        self._dirty, bound = False, False
        hopeless: set[str] = set()
        for uid, pod in list(self._pending.items()):
            if uid not in self._asked:
                found, spec = _needs(pod), pod["spec"]
                terms = [spec.get(key) for key in ("nodeSelector", "affinity", "tolerations")]
                self._asked[uid] = found, repr((sorted(found.items()), terms))
            needs, key = self._asked[uid]
            node = None if key in hopeless else self._best(pod, needs)
            if node is not None:
                bound = True
                placed = {**pod, "spec": {**pod["spec"], "nodeName": node}}
                self._objects.replace("Pod", pod, placed)
                continue
            hopeless.add(key)
            conditions = pod["status"].get("conditions") or ()
            if not any(each["type"] == "PodScheduled" for each in conditions):
                self._new_left = True
                status = {**pod["status"], "conditions": [_LEFT]}
                self._pending[uid] = self._objects.replace("Pod", pod, {**pod, "status": status})
        return bound

    def _best(self, pod: Object, needs: Amounts) -> str | None:
        preferred, asked = _preferred(pod), [(key, each) for key, each in needs.items() if each]
        weights = {}
        for name, node in self.nodes.items():
            free, labels = self._free[name], node.body["metadata"]["labels"]
            if not node.open or any(amount > free.get(key, 0) for key, amount in asked):
                continue
            if not misfit(pod["spec"], name, labels, node.body["spec"].get("taints") or []):
                weights[name] = _weight(preferred, labels)
        most = max(weights.values(), default=0) or 1
        scores = []
        for name, weight in weights.items():
            free, whole = self._free[name], self._whole[name]
            sized = [key for key in ("cpu", "memory") if whole.get(key)]
            left = [(free[key] - needs.get(key, 0)) / whole[key] for key in sized]
            scores.append((200 * weight / most + 100 * sum(left) / max(1, len(left)), name))
        return max(scores)[1] if scores else None


_CONTROLLERS = {"Job": "Job", "StatefulSet": "StatefulSet", "Deployment": "ReplicaSet"}


def _take(free: Amounts, needs: Amounts, sign: int = 1) -> None:
    for key, amount in needs.items():
        free[key] = free.get(key, 0) - sign * amount


def _index(pod: Object) -> int:
    return int(pod["metadata"]["annotations"][INDEX])


def _needs(pod: Object) -> Amounts:
    return amounts(resources.requests(pod["spec"]))


def _preferred(pod: Object) -> list[Any]:
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    return list(affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ())


def _weight(preferred: list[Any], labels: Mapping[str, str]) -> int:
    return sum(
        each["weight"]
        for each in preferred
        if all(matches(term, labels) for term in each["preference"].get("matchExpressions") or ())
    )
