"""The policy "Uniform Progress" of "Can't Be Late" (Wu et al., NSDI 2024), as far as pods and an autoscaler can follow it.

Work has a deadline, `slowdown` times its need after its submission. It goes at an even pace towards it: on spot while there is
spot; on demand while it is behind that pace and there is none; back on spot when there is some and it is ahead by two changes of
machines. Work that can only just be done in time stays on demand. The policy knows at each moment whether there is a spot machine,
as in the paper; no user of a cloud does.
"""

from __future__ import annotations

from typing import Literal

from drill.in_memory.back_to_spot import gpus_in_use
from drill.in_memory.run_in_memory import placed
from drill.in_memory.stack import Stack
from drill.play.drill import Drill
from drill.play.life import Life
from drill.world.kinds import CAPACITY, spot
from drill.world.record import Work
from drill.world.workloads import INDEX, SPOT, WORK
from sandbox.kubernetes.client import Object

TICK = 60.0
"""Seconds between two looks at the work."""
CHANGE = 150.0
"""Seconds that a change of machines takes: the age of GPU pods (30 s), a boot (100 s), GPUs and the start of a container."""

Side = Literal["spot", "on-demand"]


class UniformProgress:
    """The policy in one drill."""

    def __init__(self, stack: Stack, slowdown: float) -> None:
        self._slowdown, self._sides = slowdown, dict[str, Side]()
        rest = {key: value for key, value in stack.placement.items() if key != "affinity"}
        self._placements = {
            "spot": rest | {"affinity": _required("In")},
            "on-demand": rest | {"affinity": _required("NotIn")},
        }

    def admit(self, drill: Drill, pod: Object) -> Object:
        """Give a pod the side of its work; work that is new is on spot where there is some."""
        notes = pod["metadata"]["annotations"]
        if SPOT not in notes:
            return pod
        name = f"{notes[WORK]}/{notes[INDEX]}"
        work = drill.kubelets.work[name]
        if name not in self._sides or self._sides[name] == "spot":
            self._sides[name] = self._side(drill, work, 0.0, running=False)
        return placed(pod, self._placements[self._sides[name]])

    def follow(self, drill: Drill) -> None:
        """Look at all work again and again."""
        for number in range(1, int(drill.scenario.length // TICK)):
            drill.clock.at(number * TICK, lambda: self._look(drill))

    def _look(self, drill: Drill) -> None:
        for life in list(drill.kubelets.lives.values()):
            work = life.work
            if (
                work is None
                or not life.record.spot
                or life.record.ended is not None
                or work.needs is None
            ):
                continue
            running = life.record.started is not None
            now = drill.clock.now
            if running and self._sides[work.name] == "spot":
                continue  # As long as the machine is there it stays.
            wanted = self._side(drill, work, now - (life.record.started or now), running=running)
            if wanted != self._sides[work.name]:
                self._sides[work.name] = wanted
                _replace(drill, life)

    def _side(self, drill: Drill, work: Work, since: float, *, running: bool) -> Side:
        needs = work.needs or 0.0
        age = drill.clock.now - work.submitted
        done = min(drill.kubelets.progress.get(work.name, 0.0) + since, needs)
        left, time = needs - done, self._slowdown * needs - age
        if time < left + 2 * CHANGE:
            return "on-demand"
        ahead = done - age / self._slowdown
        there = _is_there(drill, running=running)
        if there and (not running or ahead > 2 * CHANGE):
            return "spot"
        if running:
            return "on-demand"
        return "on-demand" if ahead < 0 else "spot"


def _is_there(drill: Drill, *, running: bool) -> bool:
    """Whether there is a spot machine: a new one, one that boots, or one with a free GPU. One that runs asks for a new one."""
    for group in drill.machines.groups().groups:
        if not spot(group) or not group.gpus:
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


def _replace(drill: Drill, life: Life) -> None:
    """Evict a pod: its Job makes another, which is admitted anew."""
    life.ending = "drained"
    metadata = life.pod["metadata"]
    drill.client.evict(metadata["name"], metadata["namespace"], 30)
