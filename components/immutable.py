"""Refusals of impossible changes, in one message before any declaration (docs/adr/0018)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from components.target import Stack
from config.base.problems import Problem
from config.model.pool import Capacity
from config.placement.node_pools import NodePool

Change = tuple[str, Any, Any]
"""A key of the stack file (below the pool's, unless it begins with `cloud.`), the live and the
wanted value."""


def change_problems(
    path: str, pool: str, changes: Iterable[Change], remedy: str
) -> Iterator[Problem]:
    """Yield a problem for each change of the live `pool`, whose path in the file is `path`."""
    for key, now, declared in changes:
        where = key if key.startswith("cloud.") else f"{path}.{key}"
        yield Problem(
            where, f"{pool}: is {now} in the cluster and cannot become {declared}", remedy
        )


def as_written(value: Any) -> str:
    """Return a value as the stack file writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def becomes_spot(stack: Stack, pool: NodePool) -> Problem:
    """Return the problem of an on-demand pool in use that the stack file turns into a spot pool."""
    wanted = Capacity.PREEMPTIBLE if pool.preemptible else pool.capacity
    return Problem(
        f"{stack.path(pool)}.capacity",
        f"{pool.name}: is on-demand in the cluster and cannot become {wanted}",
        "write the spot pool beside it under another name; remove the on-demand pool when it is "
        "drained",
    )
