"""The tables of `sandbox status`."""

import os
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from sandbox.autoscaler.journal import decisions
from sandbox.cloud.node_groups import PoolStatus
from sandbox.cloud.spot_nodes import Bound
from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.control_plane.plane import LOOPS

_DECISIONS = 5
_CAPACITIES = {"Spot": "spot", "Preemptible": "preemptible", "Flex-start": "flex-start"}


def show(planes: Iterable[ControlPlane], pools: Iterable[PoolStatus], bounds: Iterable[Bound] = ()) -> None:
    """Print the processes of each control plane, the pools, bounds of spot machines, and the autoscalers' last decisions."""
    planes = list(planes)
    console = Console()
    for plane in planes:
        where = os.path.relpath(plane.directory)
        # In one line, however long, so that the folder can be copied.
        console.print(
            f"Kubernetes {plane.version}, {plane.memory() / 1e6:.0f} MB, in {where}", markup=False, soft_wrap=True
        )
        table = _table("process")
        for column in ("pid", "MB"):
            table.add_column(column, justify="right")
        for name, process in plane.processes.items():
            running = process.find()
            table.add_row(name, str(running.pid) if running else "not running", f"{process.memory() / 1e6:.0f}")
        console.print(table)
    console.print()
    table = _table("cluster", "pool", "machine", "capacity")
    for column in ("nodes", "min", "max"):
        table.add_column(column, justify="right")
    for pool in pools:
        capacity = _CAPACITIES.get(pool.priority, "on-demand")
        table.add_row(
            pool.cluster, pool.pool, pool.size, capacity, str(pool.count), _bound(pool.least), _bound(pool.most)
        )
    console.print(table)
    for bound in bounds:
        amount = str(bound.nodes or "none") + (
            ", requests beyond it are accepted and never fulfilled" if bound.silent else ""
        )
        console.print(f"spot capacity of {bound.where}: {amount}", markup=False, highlight=False, soft_wrap=True)
    lines = [line for p in planes if LOOPS in p.processes for line in decisions(p.processes[LOOPS].log, _DECISIONS)]
    if lines:
        console.print()
        console.print("\n".join(sorted(lines)[-_DECISIONS:]), markup=False, highlight=False, soft_wrap=True)


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column)
    return table


def _bound(value: int | None) -> str:
    return "-" if value is None else str(value)
