"""One drill: a scenario's work and faults in a copy of a stack's cluster, by a clock of its own."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from sandbox.kubernetes.api_errors import ApiError

from drill.play.captured import Captured
from drill.play.clock import Clock
from drill.play.faults import Faults
from drill.play.machines import Machines
from drill.play.nodes import Nodes
from drill.play.observed import Listener, Observed, Pause
from drill.play.scaling import Hands, Scans, world
from drill.play.settling import Settling
from drill.world import basis, record, workloads
from drill.world.basis import Basis
from drill.world.scenario import ENDING, Scenario, Workload
from sandbox.autoscaler import expander
from sandbox.autoscaler.api import ApiServer
from sandbox.cloud.spot_nodes import SpotFacts
from sandbox.kubernetes.client import Client, Object


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
    further: Mapping[str, str] = field(default_factory=dict)
    """Further kinds that are observed, with their paths."""
    basis: Basis | None = None
    """That of the first side of a comparison; by default the stack's own."""
    control: Callable[[Listener], tuple[Observed, Settling]] | None = None
    """What stands in for the API server, the scheduler and the controllers; None for the real ones."""
    events: list[record.Event] = field(default_factory=list)
    since: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.counted = self.basis or basis.of(self.cloud, self.cluster)
        if self.control:
            self.observed, self.settling = self.control(self._seen)
            self.client = cast(Client, self.observed)
        else:
            self.observed = Observed(self.api, self.client, self._seen, self.pause, self.further)
            self.settling = Settling(self.observed)
        facts = self.facts.within(self.scenario.notice)
        self.machines = Machines(
            self.cloud,
            self.cluster,
            self.clock,
            self.captured,
            self.scenario.boot,
            facts,
            self.scenario.shortage,
        )
        self.machines.told = self._told
        self.nodes = Nodes(
            self.clock, self.observed, self.client, self.machines, self.settling, facts
        )
        self.machines.join = self.nodes.join
        self.kubelets = self.nodes.kubelets
        self.faults = Faults(
            self.clock,
            self.machines,
            self.nodes,
            self.random,
            self._restart,
            self.event,
            self.counted.nodes,
        )
        self.hands = Hands(self.clock, self.observed, self.machines, self.nodes, self.event)
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
            self.faults.plan(self.steps, self.scenario.faults)
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
        self.fixed = {
            "priorities": (config_map.get("data") or {}).get("priorities"),
            "classes": classes["items"],
        }

    def _told(self) -> None:
        self._changed = True

    def _restart(self) -> None:
        self.scaler = self.autoscaler()

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
        status = job.get("status") or {}
        conditions = {c["type"] for c in status.get("conditions") or [] if c["status"] == "True"}
        if "Failed" in conditions or "FailureTarget" in conditions:
            for each in self.kubelets.work.values():
                if each.name.rpartition("/")[0] == name and each.finished is None:
                    each.failed = "its Job failed"
        ended = gone or conditions & {"Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"}
        if ended:
            self.settling.expected.pop(name, None)

    def _workflow(self, workflow: Object) -> None:
        name = (workflow["metadata"].get("annotations") or {}).get(workloads.WORK)
        status = workflow.get("status") or {}
        if name is None or status.get("phase") not in ("Succeeded", "Failed", "Error"):
            return
        for each in self.kubelets.work.values():
            if each.name.rpartition("/")[0] == name and each.finished is None:
                each.failed = f"its Workflow {status['phase'].lower()}: {status.get('message') or 'without a message'}"
        self.settling.expected.pop(name, None)

    def _plan_work(self) -> None:
        for name in workloads.NAMESPACES:
            self.client.apply(workloads.namespace(name), "sandbox-drill", force=True)
        for work in self.scenario.work:
            at = work.at
            for number in range(self.counted.amount(work.count)):
                self.clock.at(at, lambda work=work, number=number: self._submit(work, number))  # type: ignore[misc]
                at += (
                    self.random.expovariate(1 / work.every)
                    if work.drawn and work.every
                    else work.every
                )

    def _submit(self, work: Workload, number: int) -> None:
        pods = self.counted.amount(work.pods)
        at_once = (
            min(pods, self.counted.amount(work.parallelism))
            if work.parallelism is not None
            else pods
        )
        run_for = None
        if work.run_for:
            least, most = work.run_for
            # Whole seconds: the record has what the pods' annotation says.
            run_for = max(1.0, float(round(least * (most / least) ** self.random.random())))
            # Evictions draw from the same numbers: with more or fewer of them the second side would draw other lengths.
            run_for = self.counted.run_for.get(f"{work.namespace}/{work.name}-{number}", run_for)
        body = workloads.workload(work, number, pods, at_once, run_for, self.tolerations)
        name = body["metadata"]["annotations"][workloads.WORK]
        pieces: list[record.Work] = []
        if not work.greedy or work.kind in ENDING:
            pieces = [
                record.Work(
                    piece,
                    work.role,
                    self.clock.now,
                    needs,
                    work.checkpoint_every if needs == run_for else None,
                )
                for piece, needs in workloads.pieces(work, name, pods, run_for).items()
            ]
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
            # Here and now: what comes first has its pods first.
            self.client.create(body)
            if work.kind != "Job":
                # A controller for each kind, and several workers each: who is first would differ from run to run.
                self.settling.settle()
        except ApiError as refused:
            self.settling.expected.pop(name, None)
            for piece in pieces:
                piece.failed = f"refused: {refused}"
            self.event("note", "", f"{work.kind} {name} is refused: {refused}")

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


def _allowed(budget: Object | None) -> int:
    """The disruptions that a PodDisruptionBudget allows now."""
    return int(((budget or {}).get("status") or {}).get("disruptionsAllowed") or 0)
