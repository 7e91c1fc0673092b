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
from config.clouds.provider_properties import Edit, Of, Properties, edits
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
    last_update: LastUpdate,
    live: Callable[[str], Any],
    remedy: str | None,
) -> Iterator[Problem]:
    """Yield a problem for each edit that a live pool cannot take; log what it keeps.

    `path`: of the pool's properties in the stack file; `live` returns the value of a property in
    the cluster; `remedy`: of a pool that is not replaced.
    """
    before = _before(last_update, _POOLS).get(pool, {})
    changes = list(_changes(provider, "pool", path, before, given, live, replaced=remedy is None))
    if remedy is not None:
        yield from immutable.change_problems(path, pool, changes, remedy)


def of_cluster(
    provider: str, given: Properties, last_update: LastUpdate, live: Callable[[str], Any]
) -> Iterator[Problem]:
    """Yield a problem for each edit that needs another cluster, likewise."""
    before, path = _before(last_update, _CLUSTER), "cloud.properties"
    for key, now, declared in _changes(provider, "cluster", path, before, given, live):
        what = (
            f"is {now} in the cluster and cannot become {declared}: a new cluster would replace it"
        )
        yield Problem(f"{path}.{key}", what, LOSE_IT)


def _before(last_update: LastUpdate, key: str) -> Mapping[str, Any]:
    before: Mapping[str, Any] = (last_update.get(OUTPUT) or {}).get(key) or {}
    return before


def _changes(
    provider: str,
    of: Of,
    path: str,
    before: Mapping[str, Any],
    given: Properties,
    live: Callable[[str], Any],
    *,
    replaced: bool = False,
) -> Iterator[immutable.Change]:
    for edit in edits(provider, of, dict(before), given):
        now = live(edit.path)
        if edit.fixed and not replaced:
            if edit.now is None or not _same(now, edit.now):
                was = now if edit.before is None else edit.before
                yield edit.path, _shown(was), _shown(edit.now)
        elif edit.kept and not (edit.fixed and replaced):
            pulumi.log.warn(str(_left(path, edit)))


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
    return str(live or "").lower() == str(wanted or "").lower()


def _shown(value: Any) -> str:
    return "unset" if value in (None, "", [], {}) else immutable.as_written(value)
