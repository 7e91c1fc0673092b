"""Checks of what pools are called: in the stack file, as node pools of the cloud, and in labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from config.clouds.traits import Cloud
from config.draft import Draft
from config.model.fields import Unreadable, readable
from config.model.pool import Pool
from config.placement import node_pools
from config.problems import Problem


@dataclass(frozen=True)
class _Claim:
    """A name that something is to have alone."""

    path: str
    name: str
    made_up: str = ""
    """For a name that is not in the file: what it comes from."""


def _claims(draft: Draft, cloud: Cloud) -> Iterator[_Claim]:
    """The system pool's first, then those of pools as they are written, then those that follow from them."""
    if draft.made_here and draft.system_pool and readable(draft.system_pool, "name"):
        yield _Claim("systemPool.name", draft.system_pool.name)
    named = {f"pools[{index}]": pool for index, pool in draft.pools.items() if readable(pool, "name")}
    for path, pool in named.items():
        yield _Claim(f"{path}.name", pool.name)
    for path, pool in named.items():
        if readable(pool, "generation") and pool.generation and not pool.reclaimable:
            name = node_pools.cloud_name(pool, cloud)
            yield _Claim(f"{path}.generation", name, f"generation {pool.generation} of {pool.name}")
        yield from _twins(path, pool, cloud)


def _twins(path: str, pool: Pool, cloud: Cloud) -> Iterator[_Claim]:
    try:
        twin = node_pools.twin_cloud_name(pool, cloud)
        step = next((number for number, step in enumerate(pool.fallback) if step.on_demand), 0)
        given = pool.fallback[step].on_demand if twin else None
    except Unreadable:
        return
    if twin:
        made_up = "" if given and given.name == twin else f"the on-demand twin of {pool.name}"
        yield _Claim(f"{path}.fallback[{step}].onDemand.name", twin, made_up)


def _names(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    seen: dict[str, _Claim] = {}
    for claim in _claims(draft, cloud):
        if not re.fullmatch(cloud.pool_name, claim.name) and not claim.made_up:
            yield Problem(
                claim.path, f"{claim.name!r} is no name for {cloud.article} {cloud.title} pool", cloud.pool_name_words
            )
        other = seen.setdefault(claim.name, claim)
        if other is not claim:
            what = f"{claim.name!r} is the name of {other.path} already"
            if claim.made_up:
                what = f"{claim.made_up} is called {claim.name!r}, which is the name of {other.path} already"
            yield Problem(claim.path, what, "give it another name")


RULES = (_names,)
