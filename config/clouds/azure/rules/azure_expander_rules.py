"""Rules of the order in the priority expander's ConfigMap, which other lines may reverse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from config.base.problems import Problem
from config.clouds.azure.azure_settings import Azure
from config.clouds.traits import Cloud
from config.model.pool import Pool
from config.model.reading import of_each
from config.placement import expressions
from config.placement.growth_order import growth_order
from config.placement.node_pools import node_pools
from config.rules.draft import Draft
from config.rules.growth_rules import ordered_spec

_STEP = 10
"""The program's own lines stand in steps of ten (`components.layer.autoscaler.priorities`)."""


def _order(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Refuse lines that lift a later pool above an earlier one: the highest number counts."""
    tiers = draft.expander.other_groups if draft.expander else ()
    # Under another expander the list is never read, which `rules.autoscaler` reports.
    if (
        not tiers
        or not (draft.all_pools or draft.unread_pools)
        or azure.autoscaler.expander != "priority"
        or azure.node_provisioning
    ):
        return
    pools = draft.pools_where(lambda pool: grown(draft, [pool], cloud))
    order = grown(draft, pools, cloud)
    own = {pool: _STEP * (len(order) - place) for place, pool in enumerate(order)}
    # Unreadable pools and their twins may stand below all others, which then have higher numbers.
    more = 2 * _STEP * (len(draft.pools) - len(pools) + draft.unread_pools)
    readable = of_each(
        enumerate(tiers), lambda numbered: (numbered[0], numbered[1].priority, numbered[1].groups)
    )
    lifted = {
        (index, number): {
            pool: priority for pool in own if priority > own[pool] and _matches(group, pool)
        }
        for index, priority, groups in readable
        for number, group in enumerate(groups)
    }
    actual = {
        pool: max([own[pool], *(by[pool] for by in lifted.values() if pool in by)]) for pool in own
    }
    wrong = [
        (before, after)
        for before, after in pairwise(own)
        if max(actual[before], own[before] + more) <= actual[after]
    ]
    for (index, number), by in lifted.items():
        for before, after in [pair for pair in wrong if by.get(pair[1]) == actual[pair[1]]][:1]:
            yield Problem(
                f"expander.otherGroups[{index}].groups[{number}]",
                f"{tiers[index].groups[number]!r} matches {after}, which is to grow after "
                f"{before}: with {by[after]} it would not",
                "an expression that matches no pool of this stack, or a priority below "
                f"{own[after]}",
            )


def grown(draft: Draft, pools: Iterable[Pool], cloud: Cloud) -> tuple[str, ...]:
    """Return the order of these pools and the system pool, from what decides it."""
    spec = ordered_spec(draft, pools, draft.system_pool if draft.makes_cluster else None)
    return growth_order(spec, node_pools(spec, cloud), cloud)


def _matches(expression: str, pool: str) -> bool:
    """Return whether an expression matches the pool's node group, with digits of the cluster's."""
    return not expressions.fault(expression) and expressions.matches(
        expression, f"aks-{pool}-12345678-vmss"
    )


CLOUD_RULES = (_order,)
