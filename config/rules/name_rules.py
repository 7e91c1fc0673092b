"""Checks of the names of pools: in the stack file, as node pools of the cloud, and in labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.pool import Pool
from config.model.reading import known, of_each, where
from config.placement import object_names
from config.rules.draft import Draft


@dataclass(frozen=True)
class _Claim:
    """A name that must be unique."""

    path: str
    name: str
    made_up: str = ""
    """The origin of a name that the program derives; empty for a name in the file."""


def _claims(draft: Draft, cloud: Cloud) -> Iterator[_Claim]:
    """The system pool's name first, then those of pools as they are written, then derived names."""
    named = of_each(draft.written_pools(), lambda pair: (*pair, pair[1].name))
    for path, _, name in named:
        yield _Claim(f"{path}.name", name)
    for path, pool, _ in named:
        if isinstance(pool, Pool):
            for derived in (_generation, _twin):
                yield from known(partial(derived, path, pool, cloud), [])


def _generation(path: str, pool: Pool, cloud: Cloud) -> list[_Claim]:
    if not pool.generation or pool.reclaimable:
        return []
    made_up = f"generation {pool.generation} of {pool.name}"
    return [_Claim(f"{path}.generation", object_names.cloud_name(pool, cloud), made_up)]


def _twin(path: str, pool: Pool, cloud: Cloud) -> list[_Claim]:
    twin = object_names.twin_cloud_name(pool, cloud)
    number = next(
        iter(where(range(len(pool.fallback)), lambda number: pool.fallback[number].on_demand)), 0
    )
    given = pool.fallback[number].on_demand if twin else None
    if not twin:
        return []
    made_up = "" if given and given.name == twin else f"the on-demand twin of {pool.name}"
    return [_Claim(f"{path}.fallback[{number}].onDemand.name", twin, made_up)]


def _names(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    seen: dict[str, _Claim] = {}
    for claim in _claims(draft, cloud):
        if not re.fullmatch(cloud.pool_name, claim.name) and not claim.made_up:
            yield Problem(
                claim.path,
                f"{claim.name!r} is not a valid name for {cloud.article} {cloud.title} pool",
                cloud.pool_name_words,
            )
        other = seen.setdefault(claim.name, claim)
        if other is not claim:
            what = f"{claim.name!r} is the name of {other.path} already"
            if claim.made_up:
                what = f"{claim.made_up} is called {claim.name!r}, which is the name of {other.path} already"
            yield Problem(claim.path, what, "give it another name")


def _removed(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Refuse names in `cluster.removedPools` of pools that are declared."""
    removed = draft.cluster.removed_pools if draft.cluster else ()
    declared = {claim.name: claim.path for claim in _claims(draft, cloud)}
    for index, name in enumerate(removed):
        path = f"cluster.removedPools[{index}]"
        if not cloud.makes_pools:
            yield Problem(path, "this stack makes no pools in its cluster", "remove it")
        elif name in declared:
            what = f"{name!r} is declared, as {declared[name]}, and stays"
            yield Problem(path, what, "remove the line, or the pool")


RULES = (_names, _removed)
