"""The descheduler of `scheduling.backToSpot` in a drill in memory: one pod every two minutes, once an hour each (docs/adr/0023)."""

from __future__ import annotations

from drill.play.drill import Drill
from drill.play.kubelet import STOP
from drill.world.kinds import spot as is_spot

INTERVAL = 120.0
"""Seconds between two looks (`--descheduling-interval`)."""
MIN_AGE = 3600.0
"""Seconds for which a pod must have run (`minPodAge`)."""


def follow(drill: Drill) -> None:
    """Look again and again for a pod that keeps checkpoints, is on demand, and finds room on a spot node that is there."""
    for number in range(1, int(drill.scenario.length // INTERVAL)):
        drill.clock.at(number * INTERVAL, lambda: _look(drill))


def gpus_in_use(drill: Drill, node: str) -> int:
    """The GPUs of pods on a node that have not ended."""
    pods = (drill.kubelets.lives[uid].record for uid in drill.kubelets.on_node.get(node, ()))
    return sum(pod.gpus for pod in pods if pod.ended is None)


def _look(drill: Drill) -> None:
    pools = {pool.pool: pool for pool in drill.machines.groups().groups}
    spot = {n for n, each in pools.items() if is_spot(each)}
    now = drill.clock.now
    free = 0
    for name, node in drill.machines.nodes.items():
        if node.pool in spot and node.ready is not None and node.noticed is None:
            used = gpus_in_use(drill, name)
            gpus = pools[node.pool].gpus
            free = max(free, (gpus.shown if gpus else 0) - used)
    for life in sorted(drill.kubelets.lives.values(), key=lambda life: life.record.created):
        own = life.record
        aged = own.started is not None and own.ended is None and now - own.created >= MIN_AGE
        if aged and own.spot and life.checkpoint and own.pool not in spot and 0 < own.gpus <= free:
            life.ending = "drained"
            metadata = life.pod["metadata"]
            drill.client.evict(metadata["name"], metadata["namespace"], int(STOP) + 30)
            return
