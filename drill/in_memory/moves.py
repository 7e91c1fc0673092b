"""Policies that move running pods in memory: `scheduling.backToSpot`, Uniform Progress."""

from __future__ import annotations

from typing import Literal

from drill.in_memory.run_in_memory import placed
from drill.in_memory.stack import Stack
from drill.play.drill import Drill
from drill.play.kubelet import STOP
from drill.play.pod_life import Life
from drill.world.node_groups import CAPACITY, is_spot
from drill.world.record import Work
from drill.world.workloads import INDEX, SPOT, WORK
from sandbox.kubernetes.client import Object

INTERVAL = 120.0
"""Seconds between two looks of the descheduler (`--descheduling-interval`)."""
MIN_AGE = 3600.0
"""Seconds for which a pod must have run (`minPodAge`)."""

TICK = 60.0
"""Seconds between two looks of Uniform Progress."""
CHANGE = 150.0
"""Seconds of a change of machines: age of GPU pods (30 s), boot (100 s), GPUs, container start."""

Side = Literal["spot", "on-demand"]


def follow_back_to_spot(drill: Drill) -> None:
    """Move pods back to spot: one pod every two minutes, each at most once an hour (docs/adr/0023).

    A pod moves that keeps checkpoints, is on demand, and finds room on an existing spot node.
    """
    for number in range(1, int(drill.scenario.length // INTERVAL)):
        drill.clock.at(number * INTERVAL, lambda: _move_one(drill))


def gpus_in_use(drill: Drill, node: str) -> int:
    """Count the GPUs of pods on a node that have not ended."""
    pods = (drill.kubelets.lives[uid].record for uid in drill.kubelets.on_node.get(node, ()))
    return sum(pod.gpus for pod in pods if pod.ended is None)


def _move_one(drill: Drill) -> None:
    spot = {group.pool: group for group in drill.machines.groups().groups if is_spot(group)}
    free = 0
    for name, node in drill.machines.nodes.items():
        if node.pool in spot and node.ready is not None and node.noticed is None:
            gpus = spot[node.pool].gpus
            free = max(free, (gpus.shown if gpus else 0) - gpus_in_use(drill, name))
    for life in sorted(drill.kubelets.lives.values(), key=lambda life: life.record.created):
        own, age = life.record, drill.clock.now - life.record.created
        aged = own.started is not None and own.ended is None and age >= MIN_AGE
        if aged and own.spot and life.checkpoint and own.pool not in spot and 0 < own.gpus <= free:
            _evict(drill, life, int(STOP) + 30)
            return


def _evict(drill: Drill, life: Life, grace: int = 30) -> None:
    """Evict a pod: its Job makes another one, which is admitted anew."""
    life.ending = "drained"
    drill.client.evict(life.pod["metadata"]["name"], life.pod["metadata"]["namespace"], grace)


class UniformProgress:
    """The policy "Uniform Progress" of "Can't Be Late" (Wu et al., NSDI 2024) in one drill.

    Work has a deadline, `slowdown` times its need after its submission, and goes at an even pace
    towards it: on spot while there is spot; on demand while it is behind that pace and there is
    none; back on spot when there is some and it is ahead by two changes of machines. Work that can
    only just be done in time stays on demand. As in the paper, the policy knows at each moment
    whether there is a spot machine; no user of a cloud does.
    """

    def __init__(self, stack: Stack, slowdown: float) -> None:
        self._slowdown, self._sides = slowdown, dict[str, Side]()
        rest = {key: value for key, value in stack.placement.items() if key != "affinity"}
        self._placements = {
            "spot": rest | {"affinity": _required("In")},
            "on-demand": rest | {"affinity": _required("NotIn")},
        }

    def admit(self, drill: Drill, pod: Object) -> Object:
        """Place a pod on the side of its work; new work is on spot if there is some."""
        notes = pod["metadata"]["annotations"]
        if SPOT not in notes:
            return pod
        name = f"{notes[WORK]}/{notes[INDEX]}"
        work = drill.kubelets.work[name]
        if name not in self._sides or self._sides[name] == "spot":
            self._sides[name] = self._side(drill, work, 0.0, running=False)
        return placed(pod, self._placements[self._sides[name]])

    def follow(self, drill: Drill) -> None:
        """Look at all work once a minute."""
        for number in range(1, int(drill.scenario.length // TICK)):
            drill.clock.at(number * TICK, lambda: self._look(drill))

    def _look(self, drill: Drill) -> None:
        for life in list(drill.kubelets.lives.values()):
            work, own = life.work, life.record
            if work is None or work.needs is None or not own.spot or own.ended is not None:
                continue
            running, now = own.started is not None, drill.clock.now
            if running and self._sides[work.name] == "spot":
                continue  # It stays as long as its machine.
            wanted = self._side(drill, work, now - (own.started or now), running=running)
            if wanted != self._sides[work.name]:
                self._sides[work.name] = wanted
                _evict(drill, life)

    def _side(self, drill: Drill, work: Work, since: float, *, running: bool) -> Side:
        needs = work.needs or 0.0
        age = drill.clock.now - work.submitted
        done = min(drill.kubelets.progress.get(work.name, 0.0) + since, needs)
        left, time = needs - done, self._slowdown * needs - age
        if time < left + 2 * CHANGE:
            return "on-demand"
        ahead = done - age / self._slowdown
        if _has_spot(drill, running=running) and (not running or ahead > 2 * CHANGE):
            return "spot"
        return "on-demand" if running or ahead < 0 else "spot"


def _has_spot(drill: Drill, *, running: bool) -> bool:
    """Return whether there is a spot machine: a new one, or for a pod that waits one with room."""
    for group in drill.machines.groups().groups:
        if not is_spot(group) or not group.gpus:
            continue
        if len(group.nodes) < (group.most or 0) and drill.machines.places(group, 1):
            return True
        for name in () if running else group.nodes:
            node = drill.machines.nodes.get(name)
            if node is None or not node.zone or node.noticed is not None:
                continue
            if node.ready is None or gpus_in_use(drill, name) < group.gpus.shown:
                return True
    return False


def _required(operator: str) -> Object:
    expression = {"key": CAPACITY, "operator": operator, "values": ["spot"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
