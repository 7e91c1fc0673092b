"""Checks of stacks in a cluster that somebody else made: what is theirs to decide is no setting here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from config.clouds.traits import Cloud
from config.draft import Draft
from config.model.fields import Model
from config.model.pool import Fallback, Pool
from config.problems import Problem
from config.reading import part
from config.rules.items import each_step

_THEIRS = "is set for a cluster this stack does not make"
_REMOVE = "remove it: whoever made the cluster decides this"

_CLUSTER = ("name", "protect", "kubernetes_version", "reason")
_DESCRIBED = ("generation", "subnet", "os_disk", "max_pods", "mig", "install_driver", "upgrade", "zones", "spot")
"""What a pool says of how machines are made or bought; of those that are there it is too late to say."""


def _cluster(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.made_here:
        return
    if draft.system_pool:
        yield Problem("systemPool", _THEIRS, _REMOVE)
    if draft.cluster:
        yield from _set("cluster", draft.cluster, *_CLUSTER)


def _cloud(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # A cloud that makes no pools has no cluster of its own to set anything for.
    if draft.made_here or draft.cloud is None or not cloud.makes_pools:
        return
    yield from _unless_of_pools("cloud", draft.cloud, cloud.keys_of_added_pools)


def _unless_of_pools(path: str, settings: Model, of_pools: Iterable[str]) -> Iterator[Problem]:
    """A problem for every key that is set and not about the pools that are added."""
    inner: dict[str, set[str]] = {}
    for key in of_pools:
        name, _, last = key.partition(".")
        inner.setdefault(name, set()).update([last] if last else [])
    yield from _set(path, settings, *sorted(set(type(settings).model_fields) - set(inner)))
    for name, rest in inner.items():
        inside = part(settings, name) if rest else None
        if inside:
            yield from _unless_of_pools(f"{path}.{type(settings).model_fields[name].alias}", inside, rest)


def _set(path: str, thing: Model, *names: str) -> Iterator[Problem]:
    for name in names:
        if name in thing.model_fields_set:
            yield Problem(f"{path}.{type(thing).model_fields[name].alias}", _THEIRS, _REMOVE)


def _pool(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if cloud.makes_pools:
        return
    for name in (*_DESCRIBED, *pool.cloud_keys):
        if name in pool.model_fields_set:
            key = type(pool).model_fields[name].alias
            yield Problem(f"{path}.{key}", "is set for nodes that this stack does not make", "remove it")


@each_step
def _twin(path: str, number: int, step: Fallback, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if step.on_demand and not cloud.makes_pools:
        yield Problem(
            f"{path}.onDemand",
            "would make nodes, which this stack does not in this cluster",
            "remove it, and describe the on-demand nodes that are there as a pool of their own",
        )


RULES = (_cluster, _cloud)
POOL_RULES = (_pool, _twin)
