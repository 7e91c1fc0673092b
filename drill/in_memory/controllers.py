"""The scheduler and the controllers of a drill in memory: pods for workloads, and nodes for pods, at once."""

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
_CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_LEFT = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
_TOLERATED = [{"operator": "Exists"}]


class Controllers:
    """What a drill asks of its `Settling`: here nothing is waited for, it is done.

    The scheduler is Kubernetes' default one as far as the work of a drill shows it: pods in the order of their creation, nodes that
    fit, and of them the one with the highest sum of NodeAffinity (weight 2) and NodeResourcesFit (least allocated, weight 1)
    (kubernetes, pkg/scheduler/apis/config/v1/default_plugins.go).
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
        self._daemons: dict[tuple[str, str], str] = {}
        self._of_owner: dict[str, dict[str, Object]] = {}
        self._done: dict[str, set[int]] = {}
        """The indices of a Job that have succeeded, whatever became of their pods."""
        self._asked: dict[str, tuple[Amounts, str]] = {}
        """The requests of each pod that waits, and what else decides where it fits."""
        self._owners: set[str] = set()
        self._new_left = False
        self._dirty = self._bare = False
        self._number = 0

    def seen(self, kind: str, before: Object | None, after: Object | None) -> None:
        """An object is new, changed, or gone."""
        if kind == "Pod":
            self._pod(before, after)
        elif kind == "Node":
            self._node(before, after)

    def newly_unschedulable(self) -> bool:
        """Whether the scheduler has left a further pod since this was last asked."""
        new, self._new_left = self._new_left, False
        return new

    def settle(self) -> None:
        """Do all that is due."""
        while True:
            self._objects.flush()
            if not (self._replace_pods() | self._run_daemons() | self._schedule()):
                return

    def owned(self, owner: Object) -> None:
        """A workload is new: it has its pods at the next `settle`."""
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
                for key, amount in needs.items():
                    self._free[name][key] = self._free[name].get(key, 0) + amount
            self._dirty = True
        if node and uid not in self._placed:
            needs = self._asked.pop(uid, (None, ""))[0] or _needs(pod)
            self._placed[uid] = node, needs
            if node in self._free:
                for key, amount in needs.items():
                    self._free[node][key] = self._free[node].get(key, 0) - amount
        if ended or node or pod["metadata"].get("deletionTimestamp"):
            self._pending.pop(uid, None)
            self._asked.pop(uid, None)
        else:
            self._dirty = self._dirty or uid not in self._pending
            self._pending[uid] = pod
        if owner is not None:
            if owner["kind"] == "DaemonSet":
                if ended:
                    self._daemons.pop((owner["uid"], pod["spec"]["nodeName"]), None)
                    self._bare = True
            else:
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
            self._daemons = {key: uid for key, uid in self._daemons.items() if key[1] != name}
            return
        name = after["metadata"]["name"]
        self.nodes[name] = Node(
            after, {}, reports_ready(after) and not after["spec"].get("unschedulable")
        )
        whole = amounts(after["status"].get("allocatable") or {})
        if self._whole.get(name) != whole:
            self._whole[name], self._free[name] = whole, dict(whole)
            for place, needs in self._placed.values():
                if place == name:
                    for key, amount in needs.items():
                        self._free[name][key] = self._free[name].get(key, 0) - amount

    def _replace_pods(self) -> bool:
        owners, self._owners = self._owners, set()
        made = False
        for kind in ("Job", "StatefulSet", "Deployment"):
            for uid in sorted(
                owners & self._objects.objects[kind].keys(),
                key=lambda uid: int(uid.rpartition("-")[2]),
            ):
                for index in self._lacking(kind, self._objects.objects[kind][uid]):
                    self._make(kind, self._objects.objects[kind][uid], index)
                    made = True
        return made

    def _lacking(self, kind: str, owner: Object) -> list[int]:
        """The indices of pods that a workload lacks. The Jobs of a drill replace a lost pod when it has ended."""
        spec, own = owner["spec"], self._of_owner.get(owner["metadata"]["uid"], {}).values()
        phases = [(pod, (pod.get("status") or {}).get("phase")) for pod in own]
        if kind == "Job":
            taken = {_index(pod) for pod, phase in phases if phase != "Failed"}
            taken |= self._done.get(owner["metadata"]["uid"], set())
            running = sum(phase not in _ENDED for _, phase in phases)
            room = spec["parallelism"] - running
            return [each for each in range(spec["completions"]) if each not in taken][
                : max(0, room)
            ]
        live = [pod for pod, phase in phases if phase not in _ENDED]
        if kind == "Deployment":
            live = [pod for pod in live if not pod["metadata"].get("deletionTimestamp")]
        return list(range(spec["replicas"] - len(live)))

    def _make(self, kind: str, owner: Object, index: int) -> None:
        self._number += 1
        template, metadata = owner["spec"]["template"], owner["metadata"]
        notes = {
            **(template["metadata"].get("annotations") or {}),
            **({INDEX: str(index)} if kind == "Job" else {}),
        }
        reference = {
            "kind": _CONTROLLERS[kind],
            "name": metadata["name"],
            "uid": metadata["uid"],
            "controller": True,
        }
        self._objects.create(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "name": f"{metadata['name']}-{index}-{self._number}",
                    "namespace": metadata["namespace"],
                    "labels": template["metadata"].get("labels") or {},
                    "annotations": notes,
                    "ownerReferences": [reference],
                },
                "spec": dict(template["spec"]),
            }
        )

    def _run_daemons(self) -> bool:
        if not self._bare:
            return False
        self._bare, made = False, False
        for name, node in list(self.nodes.items()):
            labels, taints = node.body["metadata"]["labels"], node.body["spec"].get("taints") or []
            for uid, body in self._objects.objects["DaemonSet"].items():
                template = body["spec"]["template"]
                if (uid, name) in self._daemons or not daemon_fits(
                    template["spec"], name, labels, taints
                ):
                    continue
                self._number += 1
                made = True
                metadata = body["metadata"]
                pod = {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {
                        "name": f"{metadata['name']}-{self._number}",
                        "namespace": metadata["namespace"],
                        "labels": (template.get("metadata") or {}).get("labels") or {},
                        "ownerReferences": [
                            {
                                "kind": "DaemonSet",
                                "name": metadata["name"],
                                "uid": uid,
                                "controller": True,
                            }
                        ],
                    },
                    # The controller adds tolerations; what they allow was decided above.
                    "spec": {**template["spec"], "nodeName": name, "tolerations": _TOLERATED},
                }
                self._daemons[uid, name] = "made"
                self._objects.create(pod)
        return made

    def _schedule(self) -> bool:
        if not self._dirty:
            return False
        self._dirty, bound = False, False
        hopeless: set[str] = set()
        for uid, pod in list(self._pending.items()):
            if uid not in self._asked:
                found, spec = _needs(pod), pod["spec"]
                parts = (
                    sorted(found.items()),
                    spec.get("nodeSelector"),
                    spec.get("affinity"),
                    spec.get("tolerations"),
                )
                self._asked[uid] = found, repr(parts)
            needs, key = self._asked[uid]
            node = None if key in hopeless else self._best(pod, needs)
            if node is not None:
                bound = True
                placed = {**pod, "spec": {**pod["spec"], "nodeName": node}}
                self._objects.replace("Pod", pod, placed)
                continue
            hopeless.add(key)
            if not any(
                each["type"] == "PodScheduled" for each in pod["status"].get("conditions") or ()
            ):
                self._new_left = True
                status = {**pod["status"], "conditions": [_LEFT]}
                self._pending[uid] = self._objects.replace("Pod", pod, {**pod, "status": status})
        return bound

    def _best(self, pod: Object, needs: Amounts) -> str | None:
        found: list[tuple[float, str]] = []
        preferred = _preferred(pod)
        fits = []
        for name, node in self.nodes.items():
            body, free = node.body, self._free[name]
            if not node.open or any(
                amount > free.get(key, 0) for key, amount in needs.items() if amount
            ):
                continue
            if not misfit(
                pod["spec"], name, body["metadata"]["labels"], body["spec"].get("taints") or []
            ):
                fits.append(name)
        weights = {
            name: _weight(preferred, self.nodes[name].body["metadata"]["labels"]) for name in fits
        }
        most = max(weights.values(), default=0) or 1
        for name in fits:
            free, whole = self._free[name], self._whole[name]
            left = [
                (free[key] - needs.get(key, 0)) / whole[key]
                for key in ("cpu", "memory")
                if whole.get(key)
            ]
            found.append(
                (2 * 100 * weights[name] / most + 100 * sum(left) / max(1, len(left)), name)
            )
        return max(found, key=lambda each: (each[0], each[1]))[1] if found else None


_CONTROLLERS: Mapping[str, str] = {
    "Job": "Job",
    "StatefulSet": "StatefulSet",
    "Deployment": "ReplicaSet",
}


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
