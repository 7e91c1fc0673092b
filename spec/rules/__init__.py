"""Checks across fields: each rule yields (path, what is wrong, what to write instead). No network, no Pulumi.

A fact that is not confirmed may warn but never refuse.
"""

from __future__ import annotations

from spec.clouds.azure import aks
from spec.clouds.existing import existing
from spec.existing import Existing
from spec.problems import Problem
from spec.rules import cluster, pools, ranges, spot
from spec.rules.draft import Draft

_RULES = (*cluster.RULES, *pools.RULES, *spot.RULES, *ranges.RULES)


def check(draft: Draft) -> list[Problem]:
    """Every problem that any rule finds."""
    cloud = existing() if isinstance(draft.cloud, Existing) else aks()
    return [problem for rule in _RULES for problem in rule(draft, cloud)]
