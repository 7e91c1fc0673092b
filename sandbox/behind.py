"""What happens in the emulated cloud behind Pulumi's back: the autoscaler's work, and somebody else's."""

from __future__ import annotations

from collections.abc import Callable

from sandbox.azure import ids
from sandbox.azure.resources.cluster_path import POOL
from sandbox.azure.state import Store
from sandbox.engine import STATE, azure
from sandbox.errors import SandboxError
from sandbox.fleet import ScaleRefused
from sandbox.home import Home
from sandbox.locks import hold, share_cloud
from sandbox.provider import Refused

Report = Callable[[str], None]


def scale(home: Home, pool: str, nodes: int, report: Report) -> int:
    """Give a pool this many nodes; returns how many it had. Raises SandboxError."""
    with hold(home), share_cloud(home, report):
        cloud = azure(home, dict, report)
        id = _pool(home, pool)
        before = (cloud.get(id) or {})["count"]
        try:
            cloud.scale(ids.last(ids.parent(id)), ids.last(id), nodes)
        except ScaleRefused as refused:
            raise SandboxError(str(refused)) from refused
    return int(before)


def delete(home: Home, what: str, report: Report) -> str:
    """Delete a pool by its name or anything by its id; returns the id. Raises SandboxError."""
    with hold(home), share_cloud(home, report):
        cloud = azure(home, dict, report)
        id = what if what.startswith("/") else _pool(home, what)
        if cloud.get(id) is None:
            raise SandboxError(f"there is no {id}")
        try:
            cloud.delete(id)
        except Refused as refused:
            raise SandboxError(str(refused)) from refused
    return id


def _pool(home: Home, name: str) -> str:
    """The id of a pool, named as `pool` or, where two clusters have one of that name, `cluster/pool`."""
    pools = {r.id: f"{ids.last(ids.parent(r.id))}/{ids.last(r.id)}" for r in Store(home.cloud / STATE).read().of(POOL)}
    found = [id for id, called in pools.items() if f"/{called}".endswith(f"/{name}")]
    if len(found) != 1:
        raise SandboxError(
            f"there is {'more than one' if found else 'no'} pool {name!r}; pools: {', '.join(sorted(pools.values()))}"
        )
    return found[0]
