"""Checks of `growth.order`: the pools it names, whether it has any effect, and what it costs; and of spot that does not pay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.gpu import DevicePluginOptions
from config.model.growth import Growth
from config.model.pool import Pool
from config.model.spec import ClusterSpec
from config.placement import object_names
from config.placement.growth_order import growth_order
from config.placement.node_pools import NodePool, node_pools
from config.placement.useful import useful_gpu_hour
from config.rules.draft import Draft, has_gpus


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


def _unread(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.growth and draft.growth.order and not cloud.makes_pools:
        yield Problem(
            "growth.order",
            "is never read: this stack does not say how these pools grow",
            "remove it",
            warning=True,
        )


def _costs(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Warn of an order by hand that tries dearer GPU hours first, and of a chain whose first spot pool is dearer than its twin."""
    if draft.cloud is None or not cloud.makes_pools or not draft.names_are_known():
        return
    construct: Any = ClusterSpec.model_construct  # takes fewer fields than mypy thinks
    spec: ClusterSpec = construct(
        cloud=draft.cloud,
        system_pool=None,
        pools=tuple(draft.pools_where(lambda pool: has_gpus(pool, cloud))),
        growth=draft.growth or Growth(),
        device_plugin=draft.device_plugin or DevicePluginOptions(),
    )
    pools = {pool.name: pool for pool in node_pools(spec, cloud)}
    order = [name for name in growth_order(spec, list(pools.values()), cloud) if name in pools]
    for chain in (_whole(pool, pools) for pool in spec.pools):
        needed = pools[chain[0]].gpus if chain else 1
        costs = {name: useful_gpu_hour(pools[name], spec, cloud, needed) for name in chain}
        priced = [
            (order.index(name), name, cost) for name in chain if (cost := costs[name]) is not None
        ]
        for (_, first, dear), (_, then, cheap) in pairwise(sorted(priced)):
            if dear > cheap:
                yield Problem(
                    "growth.order",
                    f"tries {first}, {dear:.2f} USD for a useful GPU hour, before {then}, {cheap:.2f} USD: while both have"
                    f" machines, each GPU hour costs {dear - cheap:.2f} USD more",
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
                    f"is spot at {own:.2f} USD for a useful GPU hour, and its twin {twin.name} costs {other:.2f} USD: spot does not"
                    " pay here, and stands behind the twin",
                    "another machine or region for spot, or the pool on demand alone",
                    warning=True,
                )


def _whole(pool: Pool, pools: Mapping[str, NodePool]) -> list[str]:
    """The cloud's names of a pool's chain, its twin last."""
    by_source = {each.source.name: each.name for each in pools.values() if not each.twin}
    steps = [by_source[name] for name in object_names.chain(pool) if name in by_source]
    return [
        *steps,
        *(each.name for each in pools.values() if each.twin and each.source.name == pool.name),
    ]


RULES = (_names, _unread, _costs)
