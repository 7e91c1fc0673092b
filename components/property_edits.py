"""Edits of the properties that a stack file names in its cloud's words (docs/adr/0029).

The values of the last update are compared with the file's: what a GET shows has often another form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pulumi

from components import immutable
from components.last_update import LOSE_IT, LastUpdate
from config.base.problems import Problem
from config.clouds.provider_properties import Edit, Properties, edits
from config.model.pool import AnyPool
from config.placement.node_pools import NodePool

OUTPUT = "properties"
"""Key of the last update: the properties of each pool, by the cloud's name, and of the cluster."""

_CLUSTER = "cluster"
_POOLS = "pools"


def remembered(
    cluster: Properties, pools: Iterable[NodePool], given: Callable[[AnyPool], Properties]
) -> dict[str, Any]:
    """Return what the next update compares with; `given` returns the properties of a pool."""
    by_pool = {pool.name: given(pool.source) for pool in pools}
    by_pool = {name: properties for name, properties in by_pool.items() if properties}
    kept = {_CLUSTER: cluster, _POOLS: by_pool}
    kept = {key: value for key, value in kept.items() if value}
    return {OUTPUT: kept} if kept else {}


def of_pool(
    provider: str,
    path: str,
    pool: str,
    given: Properties,
    declared: Mapping[str, Any],
    last_update: LastUpdate,
    live: Callable[[str], Any],
    remedy: str | None,
) -> Iterator[Problem]:
    """Yield a problem for each edit that a live pool cannot take; log what it keeps.

    `path`: of the pool's properties in the stack file; `declared`: all that the program declares of
    the pool, by the cloud's names; `live` returns the value of a property in
    the cluster; `remedy`: of a pool that is not replaced.
    """
    before = _before(last_update, _POOLS).get(pool, {})
    found = edits(provider, "pool", before, given, dict(declared))
    changes = list(_changes(path, found, live))
    if remedy is not None:
        yield from immutable.change_problems(path, pool, changes, remedy)


def of_cluster(
    provider: str, given: Properties, last_update: LastUpdate, live: Callable[[str], Any]
) -> Iterator[Problem]:
    """Yield a problem for each edit that needs another cluster, likewise."""
    before, path = _before(last_update, _CLUSTER), "cloud.properties"
    found = edits(provider, "cluster", before, given)
    for key, now, declared in _changes(path, found, live):
        what = (
            f"is {now} in the cluster and cannot become {declared}: a new cluster would replace it"
        )
        yield Problem(f"{path}.{key}", what, LOSE_IT)


def _before(last_update: LastUpdate, key: str) -> Properties:
    before: Properties = dict((last_update.get(OUTPUT) or {}).get(key) or {})
    return before


def _changes(
    path: str, found: Iterable[Edit], live: Callable[[str], Any]
) -> Iterator[immutable.Change]:
    """Yield the edits of what is fixed; log those after which the cloud keeps its value."""
    for edit in found:
        if edit.kept:
            pulumi.log.warn(str(_left(path, edit)))
        elif edit.fixed:
            now = live(edit.path)
            if edit.now is None or not _same(now, edit.now):
                was = now if edit.before is None else edit.before
                yield edit.path, _shown(was), _shown(edit.now)


def _left(path: str, edit: Edit) -> Problem:
    return Problem(
        f"{path}.{edit.path}",
        f"was {_shown(edit.before)}, and keeps that value: the request no longer names it",
        "to reset it, write the value that you want, update, and then remove the line",
    )


def _same(live: Any, wanted: Any) -> bool:
    """Return whether a live value is the wanted one, but for order, case and missing zeros."""
    if isinstance(wanted, list) and isinstance(live, list):
        return sorted(map(str, live)) == sorted(map(str, wanted))
    return live == wanted or str(live or "").lower() == str(wanted or "").lower()


def _shown(value: Any) -> str:
    if value in (None, "", [], {}):
        return "unset"
    # The engine has floats only.
    whole = isinstance(value, float) and value.is_integer()
    return immutable.as_written(int(value) if whole else value)
