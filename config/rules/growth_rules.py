"""Rules of `growth.order`, of its price, and of the priority expander's ConfigMap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.cluster import DevicePluginOptions, ExpanderOptions, ExpanderTier, Growth, seconds
from config.model.pool import Pool, SystemPool
from config.model.reading import of_each, written
from config.model.spec import ClusterSpec
from config.placement import expressions, object_names
from config.placement.growth_order import growth_order, useful_gpu_hour
from config.placement.node_pools import NodePool, node_pools
from config.rules.draft import Draft, each, has_gpus


def _names(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    order = draft.growth.order if draft.growth else ()
    pools = set(draft.of_pools(lambda pool: pool.name))
    twins = {
        name for name in draft.of_pools(lambda pool: object_names.twin_name(pool, cloud)) if name
    }
    for number, name in enumerate(order):
        path = f"growth.order[{number}]"
        if name in order[:number]:
            yield Problem(path, f"names {name!r} a second time", "remove it")
        elif draft.names_are_known() and name not in pools | twins:
            known = ", ".join(sorted(pools | twins)) or "(no pool)"
            yield Problem(path, f"there is no pool {name!r}", f"one of: {known}")


_BOOT = 240
"""Seconds of the quickest boot of a GPU node that was seen (github.com/kubernetes/autoscaler/
issues/3464)."""


def _shorter_than_a_boot(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    wait = (
        draft.growth.accepted_wait
        if draft.growth and written(draft.growth, "accepted_wait")
        else ""
    )
    if wait and seconds(wait) < _BOOT:
        yield Problem(
            "growth.acceptedWait",
            f"is {wait}, and no GPU node starts so fast: 4 to 6 minutes were seen",
            "write 10m or more; a pod starts at once where an on-demand pool keeps a node, by "
            "`minNodes: 1`",
            warning=True,
        )


def _unread(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.growth and draft.growth.order and not cloud.makes_pools:
        yield Problem(
            "growth.order",
            "is never read: this stack does not say how these pools grow",
            "remove it",
            warning=True,
        )


def _costs(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Warn of an order with the more expensive GPU hour first, and of spot dearer than its twin."""
    if draft.cloud is None or not cloud.makes_pools or not draft.names_are_known():
        return
    spec = ordered_spec(draft, draft.pools_where(lambda pool: has_gpus(pool, cloud)))
    pools = {pool.name: pool for pool in node_pools(spec, cloud)}
    order = [name for name in growth_order(spec, list(pools.values()), cloud) if name in pools]
    for chain in (_whole(pool, pools) for pool in spec.pools):
        needed = pools[chain[0]].gpus if chain else 1
        costs = {name: useful_gpu_hour(pools[name], spec, cloud, needed) for name in chain}
        priced = [
            (order.index(name), name, cost)
            for name in chain
            if name in order and (cost := costs[name]) is not None
        ]
        for (_, first, dear), (_, then, cheap) in pairwise(sorted(priced)):
            if dear > cheap:
                yield Problem(
                    "growth.order",
                    f"tries {first}, {dear:.2f} USD for a useful GPU hour, before {then}, "
                    f"{cheap:.2f} USD: while both are available, each GPU hour costs "
                    f"{dear - cheap:.2f} USD more",
                    f"{then} before {first}, or no order of your own",
                    warning=True,
                )
        twin = pools.get(chain[-1]) if chain else None
        if twin is not None and twin.twin and len(chain) > 1:
            own, other = costs[chain[0]], costs[twin.name]
            if own is not None and other is not None and own > other:
                index = next(
                    number for number, pool in draft.pools.items() if pool.name == twin.source.name
                )
                yield Problem(
                    f"pools[{index}].capacity",
                    f"is spot at {own:.2f} USD for a useful GPU hour, and its twin {twin.name} "
                    f"costs {other:.2f} USD: spot does not pay, and comes after the twin",
                    "another machine or region for spot, or the pool on demand alone",
                    warning=True,
                )


def ordered_spec(
    draft: Draft, pools: Iterable[Pool], system_pool: SystemPool | None = None
) -> ClusterSpec:
    """Return what decides the order in which these pools grow, for `growth_order`."""
    construct: Any = ClusterSpec.model_construct  # takes fewer fields than mypy thinks
    spec: ClusterSpec = construct(
        cloud=draft.cloud,
        system_pool=system_pool,
        pools=tuple(pools),
        growth=draft.growth or Growth(),
        device_plugin=draft.device_plugin or DevicePluginOptions(),
    )
    return spec


def _whole(pool: Pool, pools: Mapping[str, NodePool]) -> list[str]:
    """Return the cloud's names of a pool's chain, its twin last."""
    by_source = {each.source.name: each.name for each in pools.values() if not each.twin}
    steps = [by_source[name] for name in object_names.chain(pool) if name in by_source]
    return [
        *steps,
        *(each.name for each in pools.values() if each.twin and each.source.name == pool.name),
    ]


def _options(draft: Draft, cloud: Cloud) -> ExpanderOptions | None:
    return draft.expander if cloud.priority_expander else None


def _none(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.expander and not cloud.priority_expander:
        for name in sorted(draft.expander.model_fields_set):
            yield Problem(
                f"expander.{ExpanderOptions.model_fields[name].alias}",
                f"is set for {cloud.title}, which has no priority expander",
                f"remove it: {cloud.order_key} says in which order pools grow"
                if cloud.order_key
                else "remove it",
            )


def _ownership(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    options = _options(draft, cloud)
    if draft.makes_cluster and options and options.take_ownership:
        yield Problem(
            "expander.takeOwnership",
            "is true for a cluster this stack makes, which has no other ConfigMap",
            "remove it",
        )


def _tiers(draft: Draft) -> Iterator[tuple[str, tuple[int, ExpanderTier]]]:
    for number, tier in enumerate(draft.expander.other_groups if draft.expander else ()):
        yield f"expander.otherGroups[{number}]", (number, tier)


@each(_tiers)
def _numbers(
    path: str, numbered: tuple[int, ExpanderTier], draft: Draft, cloud: Cloud
) -> Iterator[Problem]:
    number, tier = numbered
    options = _options(draft, cloud)
    if not options:
        return
    twins = draft.of_pools(lambda pool: object_names.twin_name(pool, cloud))
    # As `components.layer.autoscaler.priorities`: one line a pool, in steps of ten, above `.*` at
    # 1.
    top = 10 * (len(draft.pools) + len([twin for twin in twins if twin]) + draft.makes_cluster)
    if tier.priority in of_each(options.other_groups[:number], lambda other: other.priority):
        yield Problem(
            f"{path}.priority",
            f"{tier.priority} stands in the list already: the autoscaler keeps only the last",
            "write all its groups in one entry",
        )
    elif tier.priority == 1 or (tier.priority % 10 == 0 and tier.priority <= top):
        yield Problem(
            f"{path}.priority",
            f"{tier.priority} is a number of the program's own lines: between equals the "
            "autoscaler chooses at random",
            f"a number that is no multiple of ten, or one above {top}",
        )


@each(_tiers)
def _expressions(
    path: str, numbered: tuple[int, ExpanderTier], draft: Draft, cloud: Cloud
) -> Iterator[Problem]:
    _, tier = numbered
    for number, expression in enumerate(tier.groups if _options(draft, cloud) else ()):
        if wrong := expressions.fault(expression):
            # Known from the autoscaler's code (expander/priority/priority.go), hence no warning.
            yield Problem(
                f"{path}.groups[{number}]",
                f"{expression!r} is not a regular expression of RE2 ({wrong}): the autoscaler "
                "would drop the whole list and choose at random",
                "write for example ^aks-spotpool-[0-9]+-vmss$",
            )


RULES = (_names, _shorter_than_a_boot, _unread, _costs, _none, _ownership, _numbers, _expressions)
