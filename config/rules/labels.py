"""Checks of the labels and taints of pools."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.traits import Added, Cloud
from config.draft import Draft, has_gpus
from config.model.pool import Pool
from config.model.taint import Taint
from config.placement import node_pools
from config.problems import Problem
from config.reading import of_each
from config.rules.items import each_taint

_NOTHING = Added({}, ())


def _labels(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for key, value in pool.labels.items():
        domain = key.rpartition("/")[0]
        where = f'{path}.labels["{key}"]'
        if domain == node_pools.PREFIX:
            derived = key in (node_pools.POOL_LABEL, node_pools.CAPACITY_LABEL, node_pools.ACCELERATOR_LABEL)
            what = "is a label the program derives from the pool"
            if not derived:
                what = f"is under {node_pools.PREFIX}/, which this program keeps for its own labels"
            remedy = "remove it" if derived else "use a domain of your own, such as example.com/"
            yield Problem(where, what, remedy)
        elif key in cloud.reserved_labels or any(
            domain == prefix or domain.endswith("." + prefix) for prefix in cloud.reserved_label_prefixes
        ):
            if cloud.added.get(pool.capacity, _NOTHING).labels.get(key) == value:
                continue
            yield Problem(
                where, f"{cloud.title} keeps this key for itself", "use a domain of your own, such as example.com/"
            )


@each_taint
def _doubled_taints(path: str, number: int, taint: Taint, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if (taint.key, taint.effect) in of_each(pool.taints[:number], lambda other: (other.key, other.effect)):
        yield Problem(path, f"{taint.key}:{taint.effect} stands in the list already", "remove one of them")


@each_taint
def _derived_taints(path: str, number: int, taint: Taint, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not cloud.makes_pools:
        return  # existing taints may be described
    if any(taint.key == own.key for own in cloud.spot_taints):
        if taint not in cloud.added.get(pool.capacity, _NOTHING).taints:
            yield Problem(
                path, "is the taint of spot pools, which the program adds to them and no others have", "remove it"
            )
    elif taint.key == node_pools.GPU_TAINT.key and has_gpus(pool, cloud):
        yield Problem(path, f"the program adds the taint {node_pools.GPU_TAINT} to GPU pools itself", "remove it")


POOL_RULES = (_labels, _doubled_taints, _derived_taints)
