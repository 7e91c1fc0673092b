"""Idle nodes: what GPU nodes cost while they do no work."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from drill.judge.pieces import Run, gpu_pools, runs
from drill.world.record import Node, Record


@dataclass
class Idle:
    """Seconds of the machines of one pool."""

    kept: float = 0.0
    """Without a pod, but no more of them than the pool's `least` leaves to keep."""
    unneeded: float = 0.0
    """Without a pod, and more than that."""
    beside: float = 0.0
    """The share of GPUs without a pod, on nodes with one."""


def idle(record: Record) -> dict[str, Idle]:
    """Idle seconds of nodes from ready to gone, by the name of the pool."""
    pools = gpu_pools(record)
    by_node: dict[str, list[Run]] = defaultdict(list)
    for run in runs(record):
        if run.pod.node is not None:
            by_node[run.pod.node].append(run)
    found = {name: Idle() for name in pools}
    changes: dict[str, dict[float, list[int]]] = {
        name: defaultdict(lambda: [0, 0]) for name in pools
    }
    for node in record.nodes:
        if node.pool not in pools or node.ready is None:
            continue
        end = record.clock.length if node.gone is None else min(node.gone, record.clock.length)
        steps = changes[node.pool]
        steps[node.ready][0] += 1
        steps[end][0] -= 1
        busy = _busy(by_node[node.name], node, end)
        for begin, until in busy:
            steps[begin][1] += 1
            steps[until][1] -= 1
        gpus = pools[node.pool].gpus
        ran = sum(
            (min(run.end, end) - max(run.begin, node.ready)) * run.pod.gpus
            for run in by_node[node.name]
        )
        found[node.pool].beside += sum(until - begin for begin, until in busy) - ran / gpus
    for name, steps in changes.items():
        _sweep(found[name], steps, pools[name].least or 0)
    return found


def _busy(ran: list[Run], node: Node, end: float) -> list[tuple[float, float]]:
    """The stretches of time with at least one pod."""
    stretches: list[tuple[float, float]] = []
    for run in ran:
        begin, until = max(run.begin, node.ready or 0.0), min(run.end, end)
        if stretches and begin <= stretches[-1][1]:
            stretches[-1] = stretches[-1][0], max(stretches[-1][1], until)
        elif until > begin:
            stretches.append((begin, until))
    return stretches


def _sweep(found: Idle, steps: dict[float, list[int]], least: int) -> None:
    nodes = busy = 0
    before = 0.0
    for at in sorted(steps):
        without = nodes - busy
        kept = max(0, min(without, least - busy))
        found.kept += kept * (at - before)
        found.unneeded += (without - kept) * (at - before)
        nodes, busy, before = nodes + steps[at][0], busy + steps[at][1], at
