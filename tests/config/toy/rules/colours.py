"""Checks of colours."""

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.pool import Pool
from config.rules.draft import Draft, has_gpus
from tests.config.toy.toy_registration import Toy, ToyKeys


def _gpus_are_red(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if isinstance(pool, ToyKeys) and pool.toy and pool.toy.colour == "blue" and has_gpus(pool, cloud):
        yield Problem(f"{path}.toy.colour", "is blue, and GPUs are red", "write red")


def _low(toy: Toy, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if toy.shelf > 3:
        yield Problem("cloud.shelf", f"is {toy.shelf}, out of reach", "3 or less")


NEW_CLUSTER_RULES = (_low,)
POOL_RULES = (_gpus_are_red,)
