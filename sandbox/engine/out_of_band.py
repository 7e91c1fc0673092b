"""Changes of the emulated clouds behind Pulumi's back: the autoscaler's, and those of other users of the cloud."""

import copy
from functools import partial
from typing import Any

from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.base.locks import lock_stack, share_cloud
from sandbox.base.notices import Notify
from sandbox.base.yaml_file import parsed
from sandbox.cloud.emulated_cloud import EmulatedCloud
from sandbox.cloud.ids import parent
from sandbox.cloud.node_groups import PoolStatus, ScaleRefused
from sandbox.cloud.provider import InitFailed, Refused
from sandbox.cluster.clusters import PROGRAMS, label
from sandbox.engine import clouds
from sandbox.engine.clouds import Clouds
from sandbox.toolchain.programs import ensure


def scale(home: Home, name: str, nodes: int, notify: Notify, *, force: bool = False) -> int:
    """Give a pool this many nodes, by `force` also beyond its bounds; returns the number it had. Raises SandboxError."""
    with lock_stack(home), share_cloud(home, notify):
        both = clouds.opened(home, dict, notify)
        pool = named_pool(both, name)
        try:
            both.holding(pool.id).scale(parent(pool.id), pool.pool, nodes, force=force)
        except ScaleRefused as refused:
            raise SandboxError(str(refused)) from refused
    return pool.count


def delete(home: Home, target: str, notify: Notify) -> str:
    """Delete a pool by its name, or any resource by its id; returns the id. Raises SandboxError."""
    with lock_stack(home), share_cloud(home, notify):
        id, cloud, _ = _resource(clouds.opened(home, dict, notify), target)
        try:
            cloud.delete(id)
        except Refused as refused:
            raise SandboxError(str(refused)) from refused
    return id


def edit(home: Home, target: str, patch: str, notify: Notify) -> list[str]:
    """Apply a merge patch (RFC 7396, in YAML) to a pool or any resource, in the provider's names of properties.

    The cloud decides, as on any request. Returns the properties that changed. Raises SandboxError.
    """
    with lock_stack(home), share_cloud(home, notify):
        # A cluster of another version is started anew.
        id, cloud, before = _resource(clouds.opened(home, partial(ensure, PROGRAMS, notify), notify), target)
        changes = parsed(patch, "the patch")
        if unknown := changes.keys() - cloud.settable(id):
            raise SandboxError(f"{id} has no settable property {', '.join(sorted(unknown))}")
        try:
            cloud.edit(id, before, patched(before, changes))
        except (Refused, InitFailed) as refused:
            raise SandboxError(str(refused)) from refused
        after = cloud.get(id) or {}
    return sorted(name for name in changes if before.get(name) != after.get(name))


def patched(value: Any, patch: Any) -> Any:
    """Return a value with a merge patch applied: objects key by key, and null removes a key."""
    if not isinstance(patch, dict):
        return patch
    result = copy.deepcopy(value) if isinstance(value, dict) else {}
    for key, change in patch.items():
        result[key] = patched(result.get(key), change)
    return {key: inner for key, inner in result.items() if inner is not None}


def _resource(both: Clouds, target: str) -> tuple[str, EmulatedCloud, dict[str, Any]]:
    """Return a pool by its name or any resource by its id: the id, its cloud, and the body that GET returns."""
    is_name = both.holding(target).get(target) is None and not target.startswith(("/", "projects/"))
    id = named_pool(both, target).id if is_name else target
    cloud = both.holding(id)
    body = cloud.get(id)
    if body is None:
        raise SandboxError(f"there is no {id}")
    return id, cloud, body


def named_pool(both: Clouds, name: str) -> PoolStatus:
    """Return a pool by its name; `cluster/pool` where two clusters have the name, with more of the cluster's id where needed."""
    pools = {f"{label(parent(pool.id))}/{pool.pool}": pool for pool in both.pools()}
    matching = [pool for path, pool in pools.items() if f"/{path}".endswith(f"/{name.lower()}")]
    if len(matching) != 1:
        number = "more than one" if matching else "no"
        raise SandboxError(f"there is {number} pool {name!r}; pools: {', '.join(sorted(pools))}")
    return matching[0]
