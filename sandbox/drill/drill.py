"""One drill: a scenario's work and faults in a copy of a stack's cluster, by a clock of its own."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox.cloud.spot import SpotFacts
from sandbox.cluster.autoscaler import devices, expander
from sandbox.cluster.autoscaler.api import ApiServer
from sandbox.drill import record, workloads
from sandbox.drill.clock import Clock
from sandbox.drill.kubelet import STOP, Kubelets, of_daemon_set
from sandbox.drill.machines import Active, Captured, Machines, applies, spot
from sandbox.drill.observed import Observed, Pause, controller
from sandbox.drill.scaling import Hands, Scans, world
from sandbox.drill.scenario import Fault, Scenario, Workload
from sandbox.drill.settling import Settling
from sandbox.kubernetes.client import Client, Object

PLUGIN = 10.0
"""Seconds from a device plugin's start until the node reports its GPUs. Assumed."""


@dataclass
class Drill:
    """One run."""

    scenario: Scenario
    seed: int
    clock: Clock
    client: Client
    api: ApiServer
    cloud: Any
    captured: Captured
    cluster: str
    autoscaler: Callable[[], Any]
    """Makes a new autoscaler: at the begin, and when it is restarted."""
    facts: SpotFacts
    pause: Pause
    progress: Callable[[float, float], None] = lambda now, length: None
    steps: Sequence[record.Step] = ()
    tolerations: Sequence[Object] = ()
    """Tolerations that the work's Jobs carry themselves."""
    events: list[record.Event] = field(default_factory=list)
    capacity: list[record.Step] = field(default_factory=list)
    since: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.observed = Observed(self.api, self.client, self._seen, self.pause)
        self.machines = Machines(self.cloud, self.cluster, self.clock, self.captured, self.scenario.boot, self.facts)
        self.machines.join = self._join
        self.pools: dict[str, str] = {}
        self.kubelets = Kubelets(self.clock, self.observed, self.pools)
        self.settling = Settling(self.observed)
        self.hands = Hands(self.clock, self.observed, self.machines, self)
        self.started: set[str] = set()
        self._changed = True

    def run(self) -> None:
        """Run the scenario to its end."""
        self.scaler = self.autoscaler()
        interval = float(self._profile().get("scanInterval", "10s").removesuffix("s"))
        self.scans = Scans(self.clock, interval, self._scan)
        self._read_fixed()
        self.observed.start()
        try:
            self.machines.begin()
            self._plan_work()
            self._plan_faults()
            self.clock.at(0.0, self._scan)
            self.clock.run(self.scenario.length, self._settle)
            self.observed.flush()
        finally:
            self.observed.close()

    def event(self, kind: record.EventKind, pool: str, text: str, nodes: int = 0) -> None:
        """Something for the timeline."""
        self.events.append(record.Event(self.clock.now, kind, pool, text, nodes))

    def _profile(self) -> Mapping[str, Any]:
        return self.machines.groups().profile

    def _read_fixed(self) -> None:
        config_map = self.client.get("v1", "ConfigMap", expander.CONFIG_MAP, "kube-system") or {}
        classes = self.api.get("/apis/cloud.google.com/v1/computeclasses") or {"items": []}
        budgets = self.api.get("/apis/policy/v1/poddisruptionbudgets") or {"items": []}
        self.fixed = {
            "priorities": (config_map.get("data") or {}).get("priorities"),
            "classes": classes["items"],
            "budgets": budgets["items"],
        }
        self.maps: dict[tuple[str, str], Mapping[str, str] | None] = {}

    # The cluster's objects

    def _seen(self, kind: str, before: Object | None, after: Object | None) -> None:
        item = after or before
        assert item is not None
        uid = item["metadata"]["uid"]
        if kind in ("Pod", "Node"):
            self._changed = True
            self.settling.seen(kind, before, after)
            if after is None:
                self.since.pop(uid, None)
            else:
                self.since.setdefault(uid, self.clock.now)
        if kind == "Pod":
            self.kubelets.seen(before, after)
            if after is not None:
                self._plugin(after)
        elif kind == "Job":
            self._job(item, gone=after is None)

    def _job(self, job: Object, *, gone: bool) -> None:
        name = (job["metadata"].get("annotations") or {}).get(workloads.WORK)
        if name is None:
            return
        status = job.get("status") or {}
        conditions = {c["type"] for c in status.get("conditions") or [] if c["status"] == "True"}
        if "Failed" in conditions or "FailureTarget" in conditions:
            for each in self.kubelets.work.values():
                if each.name.rpartition("/")[0] == name and each.finished is None:
                    each.failed = "its Job failed"
        ended = gone or conditions & {"Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"}
        if ended:
            self.settling.expected.pop(name, None)
        if "Complete" in conditions and not gone and name not in self.started:
            self.started.add(name)
            metadata = job["metadata"]
            self.observed.request(
                lambda client: client.delete("batch/v1", "Job", metadata["name"], metadata["namespace"]), missing=True
            )

    # Nodes

    def _join(self, body: Object) -> None:
        """A machine registers as a node, Ready and without GPUs."""
        name = body["metadata"]["name"]
        node = self.machines.nodes[name]
        node.registered = self.clock.now
        self.pools[name] = node.pool
        group = self.machines.group(node.pool)
        if not group.gpus:
            node.ready = self.clock.now
        status = body["status"]
        ready = {
            "type": "Ready",
            "status": "True",
            "reason": "KubeletReady",
            "message": "kubelet is posting ready status",
        }
        whole = {**body, "status": {**status, "conditions": [*status.get("conditions", []), ready]}}

        def send(client: Client) -> Object:
            client.create(whole)
            # Without the taint of new nodes, which the node controller takes away when it sees that the node is Ready.
            taints = body["spec"].get("taints") or None
            return client.patch("v1", "Node", name, None, {"spec": {"taints": taints}})

        self.observed.request(send)

    def _plugin(self, pod: Object) -> None:
        """A DaemonSet's pod that runs on a GPU node may be the device plugin."""
        owner, node = controller(pod), pod["spec"].get("nodeName")
        if not owner or owner["kind"] != "DaemonSet" or not node or (pod.get("status") or {}).get("phase") != "Running":
            return
        own = self.machines.nodes.get(node)
        if own is None or own.ready is not None or own.registered is None:
            return
        late = self.machines.fault("late_plugin", self.machines.group(own.pool))
        self.clock.after(PLUGIN + (late.seconds if late else 0.0), lambda: self._report_gpus(node))

    def _report_gpus(self, name: str) -> None:
        own = self.machines.nodes.get(name)
        known = self.settling.nodes.get(name)
        body = known.body if known else None
        if own is None or body is None or own.ready is not None:
            return
        gpus = self.machines.group(own.pool).gpus
        assert gpus is not None
        pods = [self.kubelets.lives[uid].pod for uid in self.kubelets.on_node.get(name, ())]
        found = devices.report(_older(body), pods, gpus, self._map)
        if not found.resources:
            return
        own.ready = self.clock.now
        amounts = {key: str(value) for key, value in found.resources.items()}
        self._patch_node(name, {"status": {"capacity": amounts, "allocatable": amounts}}, "status")

    def _map(self, namespace: str, name: str) -> Mapping[str, str] | None:
        if (namespace, name) not in self.maps:
            found = self.client.get("v1", "ConfigMap", name, namespace)
            self.maps[namespace, name] = None if found is None else found.get("data") or {}
        return self.maps[namespace, name]

    def busy(self, node: str) -> bool:
        """Whether a pod that is no DaemonSet's is on a node."""
        return bool(self._pods_on(node))

    def evict_pod(self, pod: Object, grace: float, why: record.PodEnd) -> None:
        """Ask the API server for a pod's eviction; a PodDisruptionBudget may forbid it."""
        metadata, seconds = pod["metadata"], self._leave(pod, grace, why)

        def send(client: Client) -> Object | None:
            client.evict(metadata["name"], metadata["namespace"], seconds)
            return client.get("v1", "Pod", metadata["name"], metadata["namespace"])

        self.observed.request(send, missing=True)

    def evict_now(self, pod: Object, grace: float, why: record.PodEnd) -> bool:
        """The same at once; whether the PodDisruptionBudgets allow it."""
        metadata, seconds = pod["metadata"], self._leave(pod, grace, why)
        return self.client.evict(metadata["name"], metadata["namespace"], seconds)

    def _leave(self, pod: Object, grace: float, why: record.PodEnd) -> int:
        """Note why a pod ends; the seconds that it gets."""
        life = self.kubelets.lives.get(pod["metadata"]["uid"])
        if life and life.ending is None:
            life.ending = why
        own = pod["spec"].get("terminationGracePeriodSeconds")
        return int(min(grace, 30.0 if own is None else float(own)))

    def evict(self, node: record.Node, *, notice: bool = True) -> None:
        """The cloud takes a machine back."""
        if node.name not in self.machines.nodes or node.noticed is not None:
            return
        node.noticed = self.clock.now
        if not notice or node.registered is None:
            self._take(node.name)
            return
        self.kubelets.leaving[node.name] = "evicted"
        self.clock.after(self.facts.reaction, lambda: self._notice(node.name))
        self.clock.after(self.facts.notice, lambda: self._take(node.name))

    def _notice(self, name: str) -> None:
        """The cluster learns of the cloud's notice: no pod comes any more, and those that run get SIGTERM."""
        if name not in self.machines.nodes:
            return
        condition = self.facts.condition.as_object(f"{self.clock.now + self.facts.notice - self.facts.reaction:.0f} s")
        self.set_taint(name, self.facts.taint.as_object(), on=True)
        self._patch_node(name, {"status": {"conditions": [condition]}}, "status")
        if self.facts.pods == "deleted":
            self._drain(name, "evicted", self.facts.grace)
            return
        disruption = self.facts.disruption.as_object()
        for pod in self._pods_on(name):
            self.clock.after(STOP, lambda pod=pod: self.kubelets.terminate(pod["metadata"]["uid"], disruption))  # type: ignore[misc]

    def _pods_on(self, name: str) -> list[Object]:
        """The pods on a node that are no DaemonSet's and have not ended."""
        lives = (self.kubelets.lives[uid] for uid in sorted(self.kubelets.on_node.get(name, ())))
        return [life.pod for life in lives if life.record.ended is None and not of_daemon_set(life.pod)]

    def _drain(self, name: str, why: record.PodEnd, grace: float) -> None:
        """Cordon a node and evict its pods."""
        if name not in self.machines.nodes:
            return
        self._patch_node(name, {"spec": {"unschedulable": True}})
        for pod in self._pods_on(name):
            self.evict_pod(pod, grace, why)

    def _take(self, name: str) -> None:
        if name in self.machines.nodes:
            self.machines.lose([name], "evicted")
            self.end_node(name, "evicted")

    def end_node(self, name: str, why: record.PodEnd) -> None:
        """A machine is gone: so is its node."""
        self.kubelets.leaving.setdefault(name, why)
        self.kubelets.lost(name)
        self.observed.request(lambda client: client.delete("v1", "Node", name), missing=True)

    # Work and faults

    def _plan_work(self) -> None:
        for name in workloads.NAMESPACES:
            self.client.apply(workloads.namespace(name), "sandbox-drill", force=True)
        for work in self.scenario.work:
            at = work.at
            for number in range(self._amount(work.count)):
                self.clock.at(at, lambda work=work, number=number: self._submit(work, number))  # type: ignore[misc]
                at += self.random.expovariate(1 / work.every) if work.drawn and work.every else work.every

    def _amount(self, amount: int | str) -> int:
        """A number, or a share of the GPUs of pools."""
        if isinstance(amount, int):
            return amount
        share, _, kind = amount.partition("% of ")
        groups = [g for g in self.machines.groups().groups if g.gpus and g.most is not None]
        slots = sum((g.most or 0) * g.gpus.count for g in groups if g.gpus and spot(g) == (kind == "spot"))
        return max(1, slots * int(share) // 100)

    def _submit(self, work: Workload, number: int) -> None:
        pods = self._amount(work.pods)
        at_once = min(pods, self._amount(work.parallelism)) if work.parallelism is not None else pods
        run_for = None
        if work.run_for:
            least, most = work.run_for
            run_for = least * (most / least) ** self.random.random()
        body = workloads.workload(work, number, pods, at_once, run_for, self.tolerations)
        name = body["metadata"]["annotations"][workloads.WORK]
        if not work.greedy:
            self.settling.expected[name] = lambda: at_once
            self.settling.short.add(name)
        if work.kind == "Job":
            pieces = [
                record.Work(f"{name}/{index}", work.role, self.clock.now, run_for, work.checkpoint_every)
                for index in range(pods)
            ]
            self.kubelets.work |= {piece.name: piece for piece in pieces}
            self.settling.expected[name] = lambda: min(at_once, sum(piece.finished is None for piece in pieces))
        elif not work.greedy:
            self.kubelets.work[name] = record.Work(name, work.role, self.clock.now, None, None)
        self.observed.request(lambda client: client.create(body))

    def _plan_faults(self) -> None:
        for step in self.steps:
            self.clock.at(step.at, lambda step=step: self._set_capacity(step.machine, step.zone, step.nodes, 180.0))  # type: ignore[misc]
        for fault in self.scenario.faults:
            self.clock.at(fault.at, lambda fault=fault: self._begin_fault(fault))  # type: ignore[misc]

    def _begin_fault(self, fault: Fault) -> None:
        if fault.capacity:
            change = fault.capacity
            self._set_capacity(change.machine, change.zone, change.nodes, change.within, change.share)
            return
        if fault.evict:
            running = [n for n in self.machines.running("*", fault.evict.zone, fault.evict.pool) if n.noticed is None]
            count = len(running) if fault.evict.nodes == "all" else min(len(running), fault.evict.nodes)
            self._evict_all(running[:count], fault.evict.within, notice=fault.evict.notice)
            return
        if fault.restart_autoscaler:
            self.scaler = self.autoscaler()
            self.event("fault", "", "the autoscaler is restarted")
            return
        for kind in ("refuse", "silent", "slow", "late_plugin", "unready", "upgrade"):
            if place := getattr(fault, kind):
                self.event("fault", "" if place.pool == "*" else place.pool, f"begin of {kind.replace('_', ' ')}")
                self._begin(kind, place, fault.until)

    def _begin(self, kind: str, place: Any, until: float | None) -> None:
        active = Active(kind, place)
        self.machines.active.append(active)
        if until is not None:
            self.clock.at(until, lambda: self._end_fault(active))
        if kind == "unready":
            self._unready(place, ready=False)
        elif kind == "upgrade":
            self._upgrade(place)

    def _end_fault(self, active: Active) -> None:
        self.machines.active.remove(active)
        pool = "" if active.place.pool == "*" else active.place.pool
        self.event("fault", pool, f"end of {active.kind.replace('_', ' ')}")
        if active.kind == "unready":
            self._unready(active.place, ready=True)

    def _nodes_at(self, place: Any) -> list[record.Node]:
        registered = [node for node in self.machines.nodes.values() if node.registered is not None]
        nodes = [node for node in registered if applies(place, self.machines.group(node.pool))]
        return nodes if place.nodes == "all" else nodes[: place.nodes]

    def _unready(self, place: Any, *, ready: bool) -> None:
        state = "True" if ready else "False"
        condition = {"type": "Ready", "status": state, "reason": "Drill"}
        taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
        for node in self._nodes_at(place):
            self.set_taint(node.name, taint, on=not ready)
            self._patch_node(node.name, {"status": {"conditions": [condition]}}, "status")

    def _patch_node(self, name: str, change: Object, part: str = "") -> None:
        self.observed.request(lambda client: client.patch("v1", "Node", name, None, change, part), missing=True)

    def set_taint(self, name: str, taint: Object, *, on: bool) -> None:
        """Give a node a taint, or take it away."""

        def send(client: Client) -> Object | None:
            node = client.get("v1", "Node", name)
            if node is None:
                return None
            others = [each for each in node["spec"].get("taints") or [] if each["key"] != taint["key"]]
            return client.patch("v1", "Node", name, None, {"spec": {"taints": [*others, taint] if on else others}})

        self.observed.request(send, missing=True)

    def _upgrade(self, place: Any) -> None:
        """Nodes are drained and replaced one after the other, each when the one before is gone."""
        for number, node in enumerate(self._nodes_at(place)):
            self.clock.after(number * 120.0, lambda node=node: self._replace(node))  # type: ignore[misc]

    def _replace(self, node: record.Node) -> None:
        if node.name not in self.machines.nodes:
            return
        self._drain(node.name, "drained", 600.0)
        self.kubelets.leaving[node.name] = "drained"
        self.clock.after(60.0, lambda: self._take_upgraded(node))

    def _take_upgraded(self, node: record.Node) -> None:
        if node.name not in self.machines.nodes:
            return
        group = self.machines.group(node.pool)
        self.machines.lose([node.name], "upgraded")
        self.end_node(node.name, "drained")
        if group.most is not None and len(self.machines.group(node.pool).nodes) < group.most:
            self.machines.grow(group, 1)

    def _set_capacity(
        self, machine: str, zone: str, nodes: int | None, within: float, share: int | None = None
    ) -> None:
        for name, place, most in self.machines.spot_places():
            if machine in ("*", name) and zone in ("*", place.zone, "first" if place.first else ""):
                limit = nodes if share is None else most * share // 100
                self.machines.set_limit(name, place.zone, limit)
                self.capacity.append(record.Step(self.clock.now, name, place.zone, limit))
        self.machines.revive()
        self._evict_all(self.machines.surplus(), within)

    def _evict_all(self, nodes: Sequence[record.Node], within: float, *, notice: bool = True) -> None:
        by_pool: dict[str, int] = {}
        for node in nodes:
            by_pool[node.pool] = by_pool.get(node.pool, 0) + 1
            delay = self.random.random() * within
            self.clock.after(delay, lambda node=node: self.evict(node, notice=notice))  # type: ignore[misc]
        for pool, count in by_pool.items():
            self.event("evicted", pool, f"the cloud takes {count} machines back", count)

    # The clock

    def _scan(self) -> None:
        following = self.scaler.scan(
            self.clock.now, world(self.observed, self.machines, self.since, self.fixed), self.hands
        )
        self._changed = False
        self.scans.done(following, self.scaler.wakes())

    def _settle(self) -> None:
        self.settling.settle()
        unschedulable = self.settling.newly_unschedulable()
        if unschedulable:
            self.scans.now()
        elif self._changed:
            self.scans.changed()
        self._changed = False
        self.progress(self.clock.now, self.scenario.length)


def _older(node: Object) -> Object:
    """A node that was made before every pod, for a reader who compares their times: those are not of the drill's clock."""
    return {**node, "metadata": {**node["metadata"], "creationTimestamp": "2000-01-01T00:00:00Z"}}
