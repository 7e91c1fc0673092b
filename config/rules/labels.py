"""Checks of the labels and taints of pools."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.traits import Added, Cloud
from config.draft import Draft, has_gpus
from config.model.pool import Pool
from config.placement import node_pools
from config.problems import Problem

_NOTHING = Added({}, ())


def _labels(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for key, value in pool.labels.items():
        domain = key.rpartition("/")[0]
        where = f'{path}.labels["{key}"]'
        if domain == node_pools.PREFIX:
            yield Problem(where, "is a label the program derives from the pool", "remove it")
        elif key in cloud.reserved_labels or any(
            domain == prefix or domain.endswith("." + prefix) for prefix in cloud.reserved_label_prefixes
        ):
            if cloud.added.get(pool.capacity, _NOTHING).labels.get(key) == value:
                continue
            yield Problem(
                where, f"{cloud.title} keeps this key for itself", "use a domain of your own, such as example.com/"
            )


def _doubled_taints(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for number, taint in enumerate(pool.taints):
        if any((taint.key, taint.effect) == (other.key, other.effect) for other in pool.taints[:number]):
            where = f"{path}.taints[{number}]"
            yield Problem(where, f"{taint.key}:{taint.effect} stands in the list already", "remove one of them")


def _derived_taints(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not cloud.makes_pools:
        return  # existing taints may be described
    for number, taint in enumerate(pool.taints):
        where = f"{path}.taints[{number}]"
        if any(taint.key == own.key for own in cloud.spot_taints):
            if taint not in cloud.added.get(pool.capacity, _NOTHING).taints:
                yield Problem(
                    where, "is the taint of spot pools, which the program adds to them and no others have", "remove it"
                )
        elif taint.key == node_pools.GPU_TAINT.key and has_gpus(pool, cloud):
            yield Problem(where, f"the program adds the taint {node_pools.GPU_TAINT} to GPU pools itself", "remove it")


POOL_RULES = (_labels, _doubled_taints, _derived_taints)
