"""What happens in the emulated clouds behind Pulumi's back: the autoscaler's work, and somebody else's."""

from __future__ import annotations

from collections.abc import Callable

from sandbox import clouds
from sandbox.clouds import Clouds
from sandbox.errors import SandboxError
from sandbox.fleet import PoolStatus, ScaleRefused
from sandbox.home import Home
from sandbox.locks import hold, share_cloud
from sandbox.provider import Refused

Report = Callable[[str], None]


def scale(home: Home, pool: str, nodes: int, report: Report) -> int:
    """Give a pool this many nodes; returns how many it had. Raises SandboxError."""
    with hold(home), share_cloud(home, report):
        there = clouds.opened(home, dict, report)
        found = _pool(there, pool)
        try:
            there.holding(found.id).scale(found.cluster, found.pool, nodes)
        except ScaleRefused as refused:
            raise SandboxError(str(refused)) from refused
    return found.count


def delete(home: Home, what: str, report: Report) -> str:
    """Delete a pool by its name or anything by its id; returns the id. Raises SandboxError."""
    with hold(home), share_cloud(home, report):
        there = clouds.opened(home, dict, report)
        # A pool's name, or a cluster's and a pool's, has at most one slash in it.
        id = what if what.startswith("/") or what.count("/") > 1 else _pool(there, what).id
        cloud = there.holding(id)
        if cloud.get(id) is None:
            raise SandboxError(f"there is no {id}")
        try:
            cloud.delete(id)
        except Refused as refused:
            raise SandboxError(str(refused)) from refused
    return id


def _pool(there: Clouds, name: str) -> PoolStatus:
    """A pool, named as `pool` or, where two clusters have one of that name, `cluster/pool`."""
    pools = {f"{pool.cluster}/{pool.pool}": pool for pool in there.pools()}
    found = [pool for called, pool in pools.items() if f"/{called}".endswith(f"/{name}")]
    if len(found) != 1:
        raise SandboxError(
            f"there is {'more than one' if found else 'no'} pool {name!r}; pools: {', '.join(sorted(pools))}"
        )
    return found[0]
