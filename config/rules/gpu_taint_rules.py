"""Checks of taints with the key that pods tolerate because they ask for a GPU."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.pool import Pool
from config.model.reading import of_each
from config.model.taint import Effect
from config.placement.node_pools import GPU_TAINT
from config.rules.draft import Draft, has_gpus, own_machine


def _without_gpus(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Kubernetes' ExtendedResourceToleration gives pods this toleration; such a pod fits no machine without GPUs."""
    # Whether an unknown machine has GPUs is `rules.gpus`' question.
    known = own_machine(pool, cloud) or pool.gpus is not None
    if not cloud.makes_pools or not known or has_gpus(pool, cloud):
        return
    taints = of_each(
        enumerate(pool.taints), lambda numbered: (numbered[0], numbered[1].key, numbered[1].effect)
    )
    for number, key, effect in taints:
        if key == GPU_TAINT.key and effect != Effect.PREFER_NO_SCHEDULE:
            yield Problem(
                f"{path}.taints[{number}]",
                f"has the key {key} on machines without GPUs: only pods that ask for a GPU tolerate it, and they fit no such"
                " machine",
                "remove it, use a machine with GPUs, or a key of your own, such as example.com/team",
            )


POOL_RULES = (_without_gpus,)
