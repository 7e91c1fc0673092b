"""One drill: a scenario's work and faults in a copy of a stack's cluster, by a clock of its own."""

import random
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from drill.play.clock import Clock
from drill.play.faults import Faults
from drill.play.machines import Machines
from drill.play.nodes import Nodes
from drill.play.observed import Listener, Observed, Pause
from drill.play.scaling import Hands, Scans, world_of
from drill.play.settling import Settling
from drill.play.source import Captured
from drill.play.stack_facts import StackFacts
from drill.world import record, workloads
from drill.world.basis import Trial, basis_of_cloud
from drill.world.scenario import ENDING, Fault, Workload
from sandbox.autoscaler import expander
from sandbox.autoscaler.api import ApiServer
from sandbox.cloud.spot_nodes import SpotFacts
from sandbox.kubernetes.client import ApiError, Client, Object

IN_FORCE = 2.0
"""Real seconds until a changed admission policy is in force: the API server reads them once a
second."""


@dataclass(frozen=True)
class Cluster:
    """The copied cluster of a drill, and its cloud."""

    name: str
    """The cluster's cloud id."""
    cloud: Any
    captured: Captured
    facts: SpotFacts
    client: Client
    api: ApiServer
    pause: Pause
    version: str = ""
    """Kubernetes' version, such as 1.36.2."""


@dataclass
class Drill:
    """One run of a trial: `Drill(trial, Clock(), cluster, autoscaler).run()`."""

    trial: Trial
    clock: Clock
    cluster: Cluster
    autoscaler: Callable[[], Any]
    """Makes a new autoscaler: at the beginning, and when it is restarted."""
    progress: Callable[[float, float], None] = lambda now, length: None
    tolerations: Sequence[Object] = ()
    """Tolerations that the work's Jobs carry themselves."""
    further: Mapping[str, str] = field(default_factory=dict)
    """Further kinds that are observed, with their paths."""
    control: Callable[[Listener], tuple[Observed, Settling]] | None = None
    """Replaces the API server, the scheduler and the controllers; None for the real ones."""
    events: list[record.Event] = field(default_factory=list)
    since: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        cluster, clock, self.scenario = self.cluster, self.clock, self.trial.scenario
        self.random = random.Random(self.trial.seed)
        self.basis = self.trial.basis or basis_of_cloud(cluster.cloud, cluster.name)
        self.client = cluster.client
        if self.control:
            self.observed, self.settling = self.control(self._seen)
            self.client = cast(Client, self.observed)
        else:
            self.observed = Observed(
                cluster.api, self.client, self._seen, cluster.pause, self.further
            )
            self.settling = Settling(self.observed)
        facts = cluster.facts.within(self.scenario.notice)
        self.machines = Machines(
            *(cluster.cloud, cluster.name, clock, cluster.captured, self.scenario.boot),
            *(facts, self.scenario.shortage),
        )
        self.nodes = Nodes(
            *(clock, self.observed, self.client, self.machines, self.settling, facts),
            cluster.version,
        )
        self.machines.told, self.machines.join = self._failure_known, self.nodes.join
        self.kubelets = self.nodes.kubelets
        self.faults = Faults(
            *(clock, self.machines, self.nodes, self.random, self._restart, self.event),
            *(self._edit, self.basis.nodes),
        )
        self.hands = Hands(clock, self.observed, self.machines, self.nodes, self.event)
        self._changed = True

    def run(self) -> None:
        """Run the scenario to its end."""
        self.scaler = self.autoscaler()
        interval = float(
            self.machines.groups().profile.get("scanInterval", "10s").removesuffix("s")
        )
        self.scans = Scans(self.clock, interval, self._scan)
        self._read_unchanging()
        self.observed.start()
        try:
            self.machines.begin()
            self._plan_work()
            self.faults.plan(self.trial.steps, self.scenario.faults)
            self.clock.at(0.0, self._scan)
            self.clock.run(self.scenario.length, self._settle)
            self.observed.flush()
        finally:
            self.observed.close()

    def make_record(
        self,
        stack: StackFacts,
        clock: record.Clock,
        autoscaler: str,
        caveats: tuple[str, ...] = (),
    ) -> record.Record:
        """Return the record of a drill that has run."""
        nodes, pods = told_apart(self.machines.all, self.kubelets.pods)
        profile = self.machines.groups().profile
        return record.Record(
            scenario=Path(self.trial.name).name,
            description=self.scenario.description,
            stack=stack.name,
            provider="azure" if stack.provider == "azure" else "gcp",
            location=stack.location,
            seed=self.trial.seed,
            clock=clock,
            autoscaler=autoscaler,
            settings={key: str(value) for key, value in profile.items()},
            pools=list(stack.pools),
            nodes=nodes,
            pods=pods,
            work=list(self.kubelets.work.values()),
            capacity=self.faults.capacity,
            events=sorted(self.events, key=lambda event: event.at),
            price_source=stack.price_source,
            measured=self.trial.measured,
            accepted_wait=stack.accepted_wait,
            slowdown=self.scenario.slowdown,
            shortage=self.machines.shortage,
            caveats=caveats,
        )

    def event(self, kind: record.EventKind, pool: str, text: str, nodes: int = 0) -> None:
        """Add an event to the timeline."""
        self.events.append(record.Event(self.clock.now, kind, pool, text, nodes))

    def _read_unchanging(self) -> None:
        config_map = self.client.get("v1", "ConfigMap", expander.CONFIG_MAP, "kube-system") or {}
        classes = self.cluster.api.get("/apis/cloud.google.com/v1/computeclasses") or {}
        self.unchanging = {
            "priorities": (config_map.get("data") or {}).get("priorities"),
            "classes": classes.get("items", []),
        }

    def _edit(self, fault: Fault) -> str:
        """Apply or delete an object as somebody would with kubectl."""
        gone, body = fault.delete, fault.apply or {}
        if gone:
            self.client.delete(gone.api_version, gone.kind, gone.name, gone.namespace)
            text = f"{gone.kind} {gone.name} is deleted"
        else:
            self.client.apply(body, "kubectl", force=True)
            text = f"{body['kind']} {body['metadata']['name']} is applied"
        if (gone.api_version if gone else body["apiVersion"]).startswith("admissionregistration"):
            time.sleep(IN_FORCE)
        self._read_unchanging()
        self.observed.changes += 1
        self._changed = True
        return text

    def _failure_known(self) -> None:
        self._changed = True

    def _restart(self) -> None:
        self.scaler = self.autoscaler()

    def _seen(self, kind: str, before: Object | None, after: Object | None) -> None:
        item = after or before
        assert item is not None
        uid = item["metadata"]["uid"]
        if kind in ("Pod", "Node"):
            self._changed = True
            self.settling.note_change(kind, before, after)
            if after is None:
                self.since.pop(uid, None)
            else:
                self.since.setdefault(uid, self.clock.now)
        if kind == "Pod":
            self.kubelets.note_change(before, after)
            if after is not None:
                self.nodes.plugin(after)
        elif kind == "Job":
            self._job(item, gone=after is None)
        elif kind == "Workflow":
            self._workflow(item)
        elif kind == "PodDisruptionBudget" and _allowed(before) != _allowed(after):
            self._changed = True

    def _job(self, job: Object, *, gone: bool) -> None:
        name = (job["metadata"].get("annotations") or {}).get(workloads.WORK)
        if name is None:
            return
        conditions = (job.get("status") or {}).get("conditions") or []
        states = {each["type"] for each in conditions if each["status"] == "True"}
        if states & {"Failed", "FailureTarget"}:
            self._fail_rest(name, "its Job failed")
        if gone or states & {"Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"}:
            self.settling.expected.pop(name, None)

    def _workflow(self, workflow: Object) -> None:
        name = (workflow["metadata"].get("annotations") or {}).get(workloads.WORK)
        status = workflow.get("status") or {}
        if name is None or status.get("phase") not in ("Succeeded", "Failed", "Error"):
            return
        words = status.get("message") or "without a message"
        self._fail_rest(name, f"its Workflow {status['phase'].lower()}: {words}")
        self.settling.expected.pop(name, None)

    def _fail_rest(self, name: str, why: str) -> None:
        """Fail the pieces of an object that are not finished."""
        for each in self.kubelets.work.values():
            if each.name.rpartition("/")[0] == name and each.finished is None:
                each.failed = why

    def _plan_work(self) -> None:
        for name in workloads.NAMESPACES:
            self.client.apply(workloads.namespace(name), "sandbox-drill", force=True)
        for work in self.scenario.work:
            at, drawn = work.at, work.drawn and work.every
            for number in range(self.basis.amount(work.count)):
                self.clock.at(at, partial(self._submit, work, number))
                at += self.random.expovariate(1 / work.every) if drawn else work.every

    def _submit(self, work: Workload, number: int) -> None:
        pods = at_once = self.basis.amount(work.pods)
        if work.parallelism is not None:
            at_once = min(pods, self.basis.amount(work.parallelism))
        run_for = self._draw_length(work, number)
        body = workloads.workload(work, number, pods, at_once, run_for, self.tolerations)
        name = body["metadata"]["annotations"][workloads.WORK]
        pieces = self._pieces(work, name, pods, run_for)
        if not work.greedy:
            self.settling.expected[name] = lambda: at_once
            self.settling.short.add(name)
        if work.kind in ENDING:
            for piece in pieces:
                piece.at_once = at_once
            self.settling.expected[name] = lambda: min(
                at_once, sum(piece.finished is None for piece in pieces)
            )
        self.kubelets.work |= {piece.name: piece for piece in pieces}
        try:
            # At once: what is submitted first has its pods first.
            self.client.create(body)
            if work.kind != "Job":
                # Each kind has its own controller with several workers, in no fixed order.
                self.settling.settle()
        except ApiError as refused:
            self.settling.expected.pop(name, None)
            for piece in pieces:
                piece.failed = f"refused: {refused}"
            self.event("note", "", f"{work.kind} {name} is refused: {refused}")

    def _draw_length(self, work: Workload, number: int) -> float | None:
        if not work.run_for:
            return None
        least, most = work.run_for
        # Whole seconds, as the pods' annotation has them.
        drawn = max(1.0, float(round(least * (most / least) ** self.random.random())))
        # Evictions use the same random numbers: after more or fewer of them other lengths come.
        return self.basis.run_for.get(f"{work.namespace}/{work.name}-{number}", drawn)

    def _pieces(
        self, work: Workload, name: str, pods: int, run_for: float | None
    ) -> list[record.Work]:
        if work.greedy and work.kind not in ENDING:
            return []
        return [
            record.Work(
                *(piece, work.role, self.clock.now, needs),
                work.checkpoint_every if needs == run_for else None,
            )
            for piece, needs in workloads.pieces_of(work, name, pods, run_for).items()
        ]

    def _scan(self) -> None:
        world = world_of(self.observed, self.machines, self.since, self.unchanging)
        following = self.scaler.scan(self.clock.now, world, self.hands)
        self._changed = False
        self.scans.done(following, self.scaler.wakes())

    def _settle(self) -> None:
        self.settling.settle()
        if self.settling.newly_unschedulable():
            self.scans.now()
        elif self._changed:
            self.scans.changed()
        self._changed = False
        self.progress(self.clock.now, self.scenario.length)


def _allowed(budget: Object | None) -> int:
    """Return the disruptions that a PodDisruptionBudget allows now."""
    return int(((budget or {}).get("status") or {}).get("disruptionsAllowed") or 0)


def told_apart(
    nodes: Sequence[record.Node], pods: Sequence[record.Pod]
) -> tuple[list[record.Node], list[record.Pod]]:
    """Give each machine a name of its own, in nodes and pods.

    A recreated machine keeps the name of its node (GKE): the second of a name is called `name#2`.
    """
    lives: dict[str, list[record.Node]] = defaultdict(list)
    named = []
    for node in nodes:
        same = lives[node.name]
        own = replace(node, name=f"{node.name}#{len(same) + 1}") if same else node
        same.append(own)
        named.append(own)
    return named, [_moved(pod, lives[pod.node]) if pod.node in lives else pod for pod in pods]


def _moved(pod: record.Pod, lives: Sequence[record.Node]) -> record.Pod:
    """Return a pod on the life of its node that had registered last when it was bound."""
    bound = pod.bound or 0.0
    before = [node for node in lives if node.registered is not None and node.registered <= bound]
    return replace(pod, node=before[-1].name) if before else pod
