"""Names of node pools: the cloud's names for pools and twins, generations, chains of names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from string import ascii_lowercase

from config.clouds.traits import Cloud
from config.model.pool import AnyPool, Pool
from config.model.reading import where


def twin_name(pool: Pool, cloud: Cloud) -> str | None:
    """Return the name of the pool's on-demand twin; None if it has none."""
    # One step that cannot be read does not hide the twin in another.
    for step in (*where(pool.fallback, lambda step: step.on_demand), *pool.fallback):
        if step.on_demand:
            return step.on_demand.name or _fitted(pool.name, "od", cloud)
    return None


def cloud_name(pool: Pool, cloud: Cloud) -> str:
    """Return the cloud's name for a pool, with its generation (a spot pool's is its twin's)."""
    return (
        _fitted(pool.name, pool.generation, cloud)
        if pool.generation and not pool.reclaimable
        else pool.name
    )


def twin_cloud_name(pool: Pool, cloud: Cloud) -> str | None:
    """Return the cloud's name for a pool's twin, with the generation; None if it has none."""
    name = twin_name(pool, cloud)
    return (
        _fitted(name, pool.generation, cloud)
        if name and pool.generation and pool.reclaimable
        else name
    )


def next_generation(pool: AnyPool, names: Iterable[str], cloud: Cloud) -> str:
    """Return the first letter after the pool's generation that gives a name not in `names`."""
    assert isinstance(pool, Pool)  # the system pool has no generations
    named = twin_cloud_name if pool.reclaimable else cloud_name
    letters = ascii_lowercase[1:]
    start = letters.index(pool.generation) + 1 if pool.generation else 0
    taken = set(names)
    return next(
        letter
        for letter in letters[start:] + letters[:start]
        if named(pool.model_copy(update={"generation": letter}), cloud) not in taken
    )


def _fitted(name: str, suffix: str, cloud: Cloud) -> str:
    """Return name and suffix within the cloud's length; a hash keeps a cut name unique."""
    if len(name) + len(suffix) <= cloud.pool_name_length:
        return name + suffix
    digest = hashlib.sha256(name.encode()).hexdigest()[:3]
    return name[: cloud.pool_name_length - len(suffix) - len(digest)] + digest + suffix


def chain(pool: Pool) -> tuple[str, ...]:
    """Return the names of the pool and of the further pools to try, without the twin."""
    return (pool.name, *(step.pool for step in pool.fallback if step.pool))
