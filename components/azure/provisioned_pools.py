"""Pools of node auto-provisioning that exist already: what an edit would do to their nodes.

Karpenter replaces the nodes of a changed pool ("drift", page node-auto-provisioning-disruption),
and drains those of a removed one. No edit ends work on demand (docs/adr/0018).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pulumi

from components import immutable, running
from components.removed_pools import LivePool
from components.target import Stack
from config.base.problems import Problem
from config.clouds import registry
from config.clouds.azure.azure_pool import settings_of
from config.clouds.azure.azure_settings import Azure
from config.placement.node_pools import POOL_LABEL, NodePool
from config.placement.object_names import next_generation

PROVISIONED = "provisioned"
"""Key of the last update: each pool that was an object of Karpenter's, with what its nodes are."""

Pools = Mapping[str, Mapping[str, Any]]
"""Pools of Karpenter's by their names, each with what its nodes are."""

ANNOTATION = "kubeflow-spot.dev/nodes"
"""The same on the NodePool itself: the outputs of a failed update tell of edits that it did not
make."""

_LABEL, _SPOT, _SUBNET = "label", "spot", "subnet"


def remembered(stack: Stack, cloud: Azure, live: Pools) -> dict[str, Any]:
    """Return what the next update compares with. `live`: the result of `read_live`.

    A pool that this update removes is kept: an update that fails may leave it.
    """
    pools = {pool.name: facts(pool, cloud) for pool in stack.node_pools}
    return {PROVISIONED: {**live, **pools}} if cloud.node_provisioning else {}


def facts(pool: NodePool, cloud: Azure) -> dict[str, Any]:
    """Return what a pool's nodes are, by the keys of the stack file."""
    source = settings_of(pool.source)
    subnet, own = source.subnet, cloud.node_provisioning
    return {
        _LABEL: pool.label,
        _SPOT: pool.spot,
        _SUBNET: subnet.text if subnet else "",
        "machine": pool.machine,
        "zones": list(pool.zones),
        "labels": dict(pool.labels),
        "taints": [str(taint) for taint in pool.taints],
        "maxPods": pool.source.max_pods or 0,
        "osDisk.sizeGb": source.os_disk.size_gb or 0,
        "installDriver": pool.install_driver,
        "cloud.encryption.atHost": cloud.encryption.at_host,
        "cloud.nodeProvisioning.expireAfter": own.expire_after if own else None,
    }


def before(stack: Stack) -> Pools:
    """Return the pools of the last update by their names."""
    pools: Pools = stack.last_update.get(PROVISIONED) or {}
    return pools


def read_live(stack: Stack, kubeconfig: Callable[[], str]) -> Pools:
    """Return the pools of the last update that the cluster has now; where they cannot be listed,
    all of them, as that update left them.
    """
    known = before(stack)
    if not known:
        return known
    try:
        kind = ("karpenter.sh", "v1", "nodepools")
        live = running.read_metadata(kubeconfig(), "cluster", *kind)
    except pulumi.RunError:
        return known
    return {name: _noted(live[name], then) for name, then in known.items() if name in live}


def _noted(metadata: Mapping[str, Any], then: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a NodePool's nodes are by its own annotation, else by the last update."""
    text = (metadata.get("annotations") or {}).get(ANNOTATION)
    noted: Mapping[str, Any] = json.loads(text) if text else then
    return noted


def live_pools(live: Pools) -> list[LivePool]:
    """Return them as `components.removed_pools` judges them; their number of nodes is not known."""
    return [
        LivePool(name, {POOL_LABEL: facts[_LABEL]}, spot=facts[_SPOT], nodes=None)
        for name, facts in sorted(live.items())
    ]


def problems(
    stack: Stack, cloud: Azure, live: Pools, kubeconfig: Callable[[], str]
) -> Iterator[Problem]:
    """Yield a problem for each edit that Karpenter answers with the loss of on-demand work, and for
    each moved subnet, after which it makes no node. `live`: the result of `read_live`.
    """
    changed: list[tuple[NodePool, list[immutable.Change]]] = []
    for pool in stack.node_pools if cloud.node_provisioning else ():
        was, now = live.get(pool.name), facts(pool, cloud)
        if was is None or was[_LABEL] != pool.label:
            continue
        if was[_SPOT] != pool.spot:
            if pool.spot:
                yield immutable.becomes_spot(stack, pool)
            continue
        if was[_SUBNET] != now[_SUBNET]:
            # Page node-auto-provisioning-networking, "Subnet drift behavior".
            yield from immutable.change_problems(
                stack.path(pool),
                pool.name,
                [(_SUBNET, was[_SUBNET] or "unset", now[_SUBNET] or "unset")],
                _remedy(stack, pool),
            )
        edits = [
            (key, _shown(was.get(key)), _shown(value))
            for key, value in now.items()
            if key not in (_LABEL, _SPOT, _SUBNET) and was.get(key) != value
        ]
        if edits and not pool.spot:
            changed.append((pool, edits))
    if not changed:
        return
    labels = {pool.label for pool, _ in changed}
    try:
        work = running.read_running(kubeconfig(), "cluster", labels)
    except pulumi.RunError:
        work = None
    for pool, edits in changed:
        # Pods that cannot be listed may be there.
        if work is None or work[pool.label].pods:
            yield from immutable.change_problems(
                stack.path(pool), pool.name, edits, _remedy(stack, pool)
            )


def _remedy(stack: Stack, pool: NodePool) -> str:
    letter = next_generation(pool.source, before(stack), registry.cloud_of(stack.spec.cloud))
    return (
        "put it back, or wait until nothing runs there; or add "
        f"`generation: {letter}`: a new pool is made before the old one goes"
    )


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {value[key]}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return f"[{', '.join(value)}]"
    return immutable.as_written(value) if value or value is False else "unset"
