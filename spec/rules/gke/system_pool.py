"""Checks of the system pool."""

from __future__ import annotations

from collections.abc import Iterator

from spec.clouds import Cloud
from spec.problems import Problem
from spec.rules.draft import Draft


def _nodes(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.made_here and draft.system_pool and draft.system_pool.min_nodes < 2:
        yield Problem(
            "systemPool.minNodes",
            f"is {draft.system_pool.min_nodes}: when that node goes, so do all of the cluster's own pods at a time",
            "2 or more",
            warning=True,
        )


RULES = (_nodes,)
