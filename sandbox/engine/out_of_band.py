"""What happens in the emulated clouds behind Pulumi's back: the autoscaler's work, and somebody else's."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.base.locks import hold, share_cloud
from sandbox.base.yaml_file import parsed
from sandbox.cloud.node_groups import PoolStatus, ScaleRefused
from sandbox.cloud.provider import InitFailed, Refused
from sandbox.cluster.clusters import label
from sandbox.engine import clouds
from sandbox.engine.clouds import Cloud, Clouds

Report = Callable[[str], None]


def scale(home: Home, pool: str, nodes: int, report: Report, *, force: bool = False) -> int:
    """Give a pool this many nodes, by `force` also beyond its bounds; returns how many it had. Raises SandboxError."""
    with hold(home), share_cloud(home, report):
        there = clouds.opened(home, dict, report)
        found = _pool(there, pool)
        try:
            there.holding(found.id).scale(_cluster(found), found.pool, nodes, force=force)
        except ScaleRefused as refused:
            raise SandboxError(str(refused)) from refused
    return found.count


def delete(home: Home, what: str, report: Report) -> str:
    """Delete a pool by its name or anything by its id; returns the id. Raises SandboxError."""
    with hold(home), share_cloud(home, report):
        there = clouds.opened(home, dict, report)
        id, cloud, _ = _found(there, what)
        try:
            cloud.delete(id)
        except Refused as refused:
            raise SandboxError(str(refused)) from refused
    return id


def edit(home: Home, what: str, patch: str, report: Report) -> list[str]:
    """Lay a merge patch (RFC 7396, in YAML) over a pool or anything with an id, in the words in which its provider shows it.

    The cloud decides, as for anybody's request. Returns the properties that are otherwise now. Raises SandboxError.
    """
    with hold(home), share_cloud(home, report):
        there = clouds.opened(home, dict, report)
        id, cloud, before = _found(there, what)
        wanted = parsed(patch, "the patch")
        if unknown := wanted.keys() - cloud.settable(id):
            raise SandboxError(f"{id} has no {', '.join(sorted(unknown))} that anybody sets")
        try:
            cloud.edit(id, before, patched(before, wanted))
        except (Refused, InitFailed) as refused:
            raise SandboxError(str(refused)) from refused
        after = cloud.get(id) or {}
    return sorted(name for name in wanted if before.get(name) != after.get(name))


def patched(value: Any, patch: Any) -> Any:
    """A value with a merge patch laid over it: objects key by key, and null takes a key away."""
    if not isinstance(patch, dict):
        return patch
    result = copy.deepcopy(value) if isinstance(value, dict) else {}
    for key, change in patch.items():
        result[key] = patched(result.get(key), change)
    return {key: inner for key, inner in result.items() if inner is not None}


def _found(there: Clouds, what: str) -> tuple[str, Cloud, dict[str, Any]]:
    """A pool by its name or anything by its id: the id, the cloud it is in, and what GET returns."""
    named = there.holding(what).get(what) is None and not what.startswith(("/", "projects/"))
    id = _pool(there, what).id if named else what
    cloud = there.holding(id)
    body = cloud.get(id)
    if body is None:
        raise SandboxError(f"there is no {id}")
    return id, cloud, body


def _pool(there: Clouds, name: str) -> PoolStatus:
    """A pool, named as `pool` or, where two clusters have one of that name, `cluster/pool`, with more of the cluster's id before
    it where two clusters have one name."""
    pools = {f"{label(_cluster(pool))}/{pool.pool}": pool for pool in there.pools()}
    found = [pool for called, pool in pools.items() if f"/{called}".endswith(f"/{name.lower()}")]
    if len(found) != 1:
        raise SandboxError(
            f"there is {'more than one' if found else 'no'} pool {name!r}; pools: {', '.join(sorted(pools))}"
        )
    return found[0]


def _cluster(pool: PoolStatus) -> str:
    """The id of a pool's cluster."""
    return pool.id.rsplit("/", 2)[0]
