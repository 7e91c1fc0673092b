"""Checks of the system pool."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.rules.draft import Draft


def _nodes(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.makes_cluster and draft.system_pool and draft.system_pool.min_nodes < 2:
        yield Problem(
            "systemPool.minNodes",
            f"is {draft.system_pool.min_nodes}: when that node goes, all of the cluster's own pods end at once",
            "2 or more",
            warning=True,
        )


RULES = (_nodes,)
