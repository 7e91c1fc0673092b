"""Checks of stacks in an existing cluster: its owner's decisions are no settings here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from config.base.problems import Problem
from config.clouds import registry
from config.clouds.traits import Cloud
from config.model.fields import Model
from config.model.pool import Fallback, Pool
from config.model.reading import part
from config.rules.draft import Draft, each_step

_NOT_MADE = "is set for a cluster this stack does not make"
_REMOVE = "remove it: the cluster's owner decides this"

CLUSTER = ("name", "protect", "kubernetes_version", "reason")
DESCRIBED = (
    "generation",
    "os_disk",
    "max_pods",
    "mig",
    "install_driver",
    "upgrade",
    "zones",
    "spot",
)
"""How machines are made or bought: too late for existing machines, like the clouds' own keys."""


def _cluster(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.makes_cluster:
        return
    if draft.system_pool:
        yield Problem("systemPool", _NOT_MADE, _REMOVE)
    if draft.cluster:
        yield from _set("cluster", draft.cluster, *CLUSTER)


def _cloud(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # A cloud that makes no pools has no cluster of its own to set anything for.
    if draft.makes_cluster or draft.cloud is None or not cloud.makes_pools:
        return
    yield from _unless_of_pools("cloud", draft.cloud, cloud.keys_of_added_pools)


def _unless_of_pools(path: str, settings: Model, of_pools: Iterable[str]) -> Iterator[Problem]:
    """Refuse every key that is set and not about the added pools."""
    inner: dict[str, set[str]] = {}
    for key in of_pools:
        name, _, last = key.partition(".")
        inner.setdefault(name, set()).update([last] if last else [])
    yield from _set(path, settings, *sorted(set(type(settings).model_fields) - set(inner)))
    for name, rest in inner.items():
        inside = part(settings, name) if rest else None
        if inside:
            yield from _unless_of_pools(
                f"{path}.{type(settings).model_fields[name].alias}", inside, rest
            )


def _set(path: str, thing: Model, *names: str) -> Iterator[Problem]:
    for name in names:
        if name in thing.model_fields_set:
            yield Problem(f"{path}.{type(thing).model_fields[name].alias}", _NOT_MADE, _REMOVE)


def _pool(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if cloud.makes_pools:
        return
    for name in (*DESCRIBED, *registry.keys_of_other_clouds(cloud.provider)):
        if name in pool.model_fields_set:
            key = type(pool).model_fields[name].alias
            yield Problem(
                f"{path}.{key}", "is set for nodes that this stack does not make", "remove it"
            )


@each_step
def _twin(
    path: str, number: int, step: Fallback, pool: Pool, draft: Draft, cloud: Cloud
) -> Iterator[Problem]:
    if step.on_demand and not cloud.makes_pools:
        yield Problem(
            f"{path}.onDemand",
            "would make nodes, which this stack does not in this cluster",
            "remove it, and describe existing on-demand nodes as a pool of their own",
        )


RULES = (_cluster, _cloud)
POOL_RULES = (_pool, _twin)
