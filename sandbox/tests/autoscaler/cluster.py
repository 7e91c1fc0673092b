"""A cluster in memory for replays: machines that come or do not, a scheduler with its retry back-off, and controllers of pods.

As the recordings' README has it: node objects appear with the request and are ready after a while; the scheduler tries a pod again
after at most 10 s; a Job replaces a lost pod after 10 s, a ReplicaSet at once; without its node a pod is collected after 46 s.
"""

import heapq
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import Any

from sandbox.autoscaler.fit import misfit, selects
from sandbox.autoscaler.shapes import amounts
from sandbox.autoscaler.world import Decision, World
from sandbox.cloud.node_groups import NodeGroup, ScaleRefused

from . import pods
from .pods import GPU
from .script import COLLECTED, PRIORITIES, Fault, Object, Script, Step

_LAG = 0.05
"""Seconds until the autoscaler's list has a new pod; the loop that it triggers does not see it (gpu-pods-trickle)."""
_NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
_JOB_WAITS = 10.0
_LONGEST_RETRY = 10.5


class Cluster:
    """The cluster of a script; also the hands of its autoscaler."""

    def __init__(self, script: Script) -> None:
        self.script, self.now = script, 0.0
        self.decisions: list[Decision] = []
        self.triggered = float("inf")
        """The time of the first pod that became unschedulable since the last scan."""
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._machines: dict[str, list[str]] = {}
        self._group_of: dict[str, str] = {}
        self.nodes: dict[str, Object] = {}
        self._used: dict[str, Counter[str]] = defaultdict(Counter)
        self.pods: dict[str, Object] = {}
        self._since: dict[str, float] = {}
        self._retry: dict[str, float] = {}
        self._ready_by_hand: Counter[str] = Counter()
        told = script.recording
        self._budgets: list[Object] = list(told.get("podDisruptionBudgets") or told.get("pdbs") or ())
        self.priorities: str | None = told.get("priorities")
        self.groups = {group["name"]: group for group in script.recording["nodeGroups"]}
        for name, group in self.groups.items():
            self._machines[name] = []
            for _ in range(int(group.get("initial", group["min"]))):
                self._machine(name, 0.0)
        for batch in script.recording["pods"]:
            for number in range(batch.get("count", 1)):
                # Later pods were made right after the step before them: what happened at that moment came first.
                born = batch.get("createdAt", -_LAG) + _LAG + 0.02 * number
                self.at(born, lambda batch=batch: self._pod(batch))
        for step in script.steps:
            if step.kind not in ("kill", "start"):
                self.at(step.at, lambda step=step: self._do(step))

    def at(self, time: float, event: Callable[[], None]) -> None:
        """Plan an event."""
        heapq.heappush(self._events, (time, next(self._numbers), event))

    def changes(self) -> float:
        """Return the time of the next event."""
        return self._events[0][0] if self._events else float("inf")

    def run(self, until: float) -> None:
        """Let events happen, also those at `until`; stops early where a pod triggers a scan before."""
        while self._events and self._events[0][0] <= min(until, self.triggered):
            self.now, _, event = heapq.heappop(self._events)
            event()
        self.now = min(until, self.triggered)

    def world(self) -> World:
        """Return what the autoscaler sees."""
        now = self.now - _LAG
        visible = [pod for uid, pod in self.pods.items() if self._since[uid] <= now or pod["spec"].get("nodeName")]
        return World(
            [pods.group(told, self._machines[name]) for name, told in self.groups.items()],
            list(self.nodes.values()),
            visible,
            self._since,
            self.script.daemon_sets,
            pods.budgets(self._budgets, self.pods.values()),
            self.script.profile,
            self.priorities,
        )

    def sizes(self) -> Counter[str]:
        return Counter(map(self._group_of.__getitem__, self.nodes))

    def placement(self) -> Counter[str]:
        return Counter(
            self._group_of[pod["spec"]["nodeName"]] if pod["spec"].get("nodeName") else "(pending)"
            for pod in self.pods.values()
        )

    # The autoscaler's hands.

    def grow(self, group: NodeGroup, by: int) -> None:
        fault = self.script.faults[group.name]
        if fault.refused_from <= self.now < fault.refused_until:
            raise ScaleRefused("SkuNotAvailable: no capacity for this size")
        for _ in range(by):
            self._machine(group.name, self.now)

    def remove(self, group: NodeGroup, nodes: Collection[str]) -> None:
        if self.now < self.script.faults[group.name].locked_until:
            raise ScaleRefused("the cloud refuses")
        for name in nodes:
            self._lose(name, with_pods=True)

    def taint(self, nodes: Collection[str]) -> None:
        for name in nodes:
            taints = self.nodes[name]["spec"]["taints"]
            taints.append({"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"})

    def untaint(self, nodes: Collection[str]) -> None:
        for name in nodes:
            spec = self.nodes[name]["spec"]
            spec["taints"] = [taint for taint in spec["taints"] if not taint["key"].startswith("ToBeDeleted")]

    def busy(self, node: str) -> bool:
        return any(pod["spec"].get("nodeName") == node for pod in self.pods.values())

    def evict(self, pod: Any, grace: float) -> bool:
        uid = pod["metadata"]["uid"]
        labels, namespace = pod["metadata"]["labels"], pod["metadata"]["namespace"]
        for budget in pods.budgets(self._budgets, self.pods.values()):
            inside = budget["metadata"]["namespace"] == namespace and selects(budget["spec"]["selector"], labels)
            if inside and budget["status"]["disruptionsAllowed"] < 1:
                return False
        self.at(self.now + 1, lambda: self._delete(uid))
        return True

    def tolerate(self, pod: Any, tolerations: Sequence[Any]) -> None:
        raise AssertionError("no recording of GKE")

    def decided(self, decision: Decision) -> None:
        self.decisions.append(decision)

    def _machine(self, group: str, now: float) -> None:
        """Add a machine, whose node object appears at once."""
        number = next(self._numbers)
        name, fault = f"{group}-{number:06}", self.script.faults[group]
        self._machines[group].append(name)
        self._group_of[name] = group
        allocatable = dict((told := self.groups[group])["capacity"])
        if GPU in allocatable and fault.gpus != 0:
            allocatable[GPU] = "0"
        self.nodes[name] = {
            "metadata": {"name": name, "uid": name, "labels": {**told["labels"], "kubernetes.io/hostname": name}},
            "spec": {"taints": [*told.get("taints", ()), _NOT_READY]},
            "status": {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": "False"}]},
        }
        self._since[name] = now
        delay = self._delay(group, fault)
        if now == 0.0:
            self._become_ready(name)
        elif delay is not None:
            self.at(now + delay, lambda: self._become_ready(name))
        if fault.gpus:
            self.at(now + fault.gpus, lambda: self._report_gpus(name))
        # A pod that found no node at all is tried again and again, ever later: so the recordings' timelines have it.
        for uid, pod in self.pods.items():
            if not pod["spec"].get("nodeName") and len(self.nodes) == 1:
                age = now - self._since[uid]
                self._retry[uid] = now + (1.0 if age < 1 else min(_LONGEST_RETRY, 7.9 + age / 12))

    def _delay(self, group: str, fault: Fault) -> float | None:
        if fault.first and self._ready_by_hand[group] < fault.first[0]:
            self._ready_by_hand[group] += 1
            return fault.first[1]
        return fault.ready

    def _become_ready(self, name: str) -> None:
        if name not in self.nodes:
            return
        body = self.nodes[name]
        body["spec"]["taints"] = [taint for taint in body["spec"]["taints"] if taint["key"] != _NOT_READY["key"]]
        body["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
        self._wake_pods()

    def _report_gpus(self, name: str) -> None:
        if name in self.nodes:
            self.nodes[name]["status"]["allocatable"][GPU] = self.groups[self._group_of[name]]["capacity"][GPU]
            self._wake_pods()

    def _lose(self, name: str, *, with_pods: bool) -> None:
        """Remove a machine and its node object; its pods go at once or when they are collected."""
        self.nodes.pop(name, None)
        self._machines[self._group_of[name]].remove(name)
        for uid, pod in list(self.pods.items()):
            if pod["spec"].get("nodeName") == name:
                after = 0 if with_pods else COLLECTED
                self.at(self.now + after, lambda uid=uid: self._delete(uid))

    def _pod(self, batch: Object) -> None:
        uid = f"pod-{(number := next(self._numbers))}"
        self.pods[uid] = pods.body(batch, uid, number)
        self._since[uid], self._retry[uid] = self.now, self.now + 1.0
        if not self._bind(uid):
            self.triggered = min(self.triggered, self.now + 0.01)
            self.at(self.now + _LAG, lambda: None)  # the list has it

    def _delete(self, uid: str) -> None:
        pod = self.pods.pop(uid, None)
        if pod is None:
            return
        if node := pod["spec"].get("nodeName"):
            self._used[node].subtract(pods.asks(pod))
        self._wake_pods()
        for owner in pod["metadata"]["ownerReferences"]:
            wait = _JOB_WAITS if owner["kind"] == "Job" else 0.1
            self.at(self.now + wait, lambda: self._pod(pod["batch"]))

    def _wake_pods(self) -> None:
        """Try each waiting pod when its back-off is over: room appeared."""
        for uid, pod in self.pods.items():
            if not pod["spec"].get("nodeName"):
                self.at(max(self.now, self._retry[uid]), lambda uid=uid: self._bind(uid))

    def _bind(self, uid: str) -> bool:
        """Place a pod on the emptiest node that takes it, or in place of a pod of a lower priority."""
        pod = self.pods.get(uid)
        if pod is None or pod["spec"].get("nodeName"):
            return True
        asks = pods.asks(pod)
        best, most = "", -1.0
        for name, body in self.nodes.items():
            full = amounts(body["status"]["allocatable"])
            free = {resource: has - self._used[name][resource] for resource, has in full.items()}
            if all(free.get(resource, 0) >= asked for resource, asked in asks.items()):
                share = sum(free[resource] / full[resource] for resource in asks if full.get(resource))
                taints, labels = body["spec"]["taints"], body["metadata"]["labels"]
                if share > most and not misfit(pod["spec"], name, labels, taints):
                    best, most = name, share
        if not best:
            return self._preempt(uid, pod)
        pod["spec"]["nodeName"] = best
        pod["status"] = {"phase": "Running"}
        self._used[best].update(asks)
        return True

    def _preempt(self, uid: str, pod: Object) -> bool:
        for other, victim in list(self.pods.items()):
            lower = victim["spec"]["priority"] < pod["spec"]["priority"]
            if lower and victim["spec"].get("nodeName") and pods.asks(victim) == pods.asks(pod):
                self._delete(other)
                return self._bind(uid)
        return False

    def _do(self, step: Step) -> None:
        """Carry out a step of the recording."""
        if step.kind in ("refuse", "grant"):
            for name in self._named(step.who):
                fault = self.script.faults[name]
                fault.refused_until = self.now if step.kind == "grant" else float("inf")
                fault.refused_from = min(fault.refused_from, self.now)
        elif step.kind == "ready":
            unready = [n for n in self.nodes if self._is(n, step.who) and _NOT_READY in self.nodes[n]["spec"]["taints"]]
            for name in unready[: step.count]:
                self._become_ready(name)
        elif step.kind == "unready":
            for name in [n for n in self.nodes if self._is(n, step.who)][: step.count]:
                self.nodes[name]["spec"]["taints"].append(_NOT_READY)
                self.nodes[name]["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
        elif step.kind == "priorities":
            self.priorities = PRIORITIES[step.who]
        elif step.kind == "budget":
            app = next(pod for pod in self.pods.values() if pods.about(pod, step.who, self._named(step.who)))
            self._budgets.append({**step.budget, "labels": app["metadata"]["labels"]})
        elif step.kind == "unlock":
            for fault in self.script.faults.values():
                fault.locked_until = 0.0
        elif step.kind == "no budget":
            self._budgets = []
        elif step.kind == "delete nodes":
            for name in [node for node in self.nodes if self._is(node, step.who)][: step.count]:
                self._lose(name, with_pods=step.with_pods)
        else:
            chosen = [uid for uid, pod in self.pods.items() if pods.about(pod, step.who, self._named(step.who))]
            for uid in chosen[: step.count]:
                self._delete(uid)

    def _named(self, who: str) -> list[str]:
        """Return the groups that a word of a sentence means, such as `spot`."""
        word = {"on-demand": "od"}.get(who, who)
        return [name for name in self.groups if word in name] or list(self.groups)

    def _is(self, node: str, who: str) -> bool:
        return self._group_of[node] in self._named(who)
