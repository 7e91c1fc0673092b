"""What a record says of a stack: its pools, their order of growth, their prices."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from drill.play.source import CopiedCloud
from drill.world import record
from drill.world.node_groups import is_spot, machine_of, zones_of
from sandbox.autoscaler.autoscaler_options import seconds
from sandbox.cloud import prices
from sandbox.cloud.node_groups import NodeGroup

Tiers = Sequence[Sequence[str]]
"""Pools in the order in which they grow; pools of one rank are together."""


@dataclass(frozen=True, kw_only=True)
class StackFacts:
    """The facts of a stack in a record: `stack_facts("dev", copy).pools`."""

    name: str
    provider: str
    location: str
    pools: tuple[record.Pool, ...]
    accepted_wait: float
    """Seconds that a pod may wait: the output `acceptedWait`, 15 minutes by default."""
    price_source: str = ""


def stack_facts(name: str, copy: CopiedCloud) -> StackFacts:
    """Read the facts of a copied stack."""
    pools = tuple(stack_pools(copy, growth_orders(copy)))
    location = _location(copy)
    known = (prices.price(copy.provider, location, pool.machine) for pool in pools)
    return StackFacts(
        name=name,
        provider=copy.provider,
        location=location,
        pools=pools,
        accepted_wait=seconds(str(copy.outputs.get("acceptedWait") or "15m")),
        price_source="; ".join(sorted({each.source for each in known if each})),
    )


def _location(copy: CopiedCloud) -> str:
    return str((copy.cloud.get(copy.cluster) or {}).get("location", ""))


def stack_pools(copy: CopiedCloud, declared: Sequence[Tiers] = ()) -> list[record.Pool]:
    """List the pools of a copied stack.

    The pools that take a spot pool's work follow from the orders in which pools grow. Pools without
    GPUs take none.
    """
    groups = copy.cloud.node_groups(copy.cluster).groups
    with_gpus = {group.pool for group in groups if group.gpus}
    pools = []
    for group in groups:
        pool = _pool(copy, group)
        if pool.gpus and pool.capacity == "spot":
            chain = tuple(name for name in _after(pool.name, declared) if name in with_gpus)
            pool = replace(pool, fallback=chain)
        pools.append(pool)
    return pools


def _pool(copy: CopiedCloud, group: NodeGroup) -> record.Pool:
    machine, spot = machine_of(group), is_spot(group)
    known = prices.node_price(copy.provider, _location(copy), machine, gpus=bool(group.gpus))
    on_demand = known.on_demand if known else None
    return record.Pool(
        name=group.pool,
        machine=machine,
        capacity="spot" if spot else "on-demand",
        gpus=group.gpus.shown if group.gpus else 0,
        least=group.least,
        most=group.most,
        zones=tuple(zones_of(copy.cloud, group)),
        price=known.spot if known and spot else on_demand,
        on_demand_price=on_demand,
    )


def growth_orders(copy: CopiedCloud) -> list[Tiers]:
    """List the orders in which the stack declares that its pools grow.

    The drill asks whether the cluster keeps to them. AKS has one order for all pools, GKE one for
    each ComputeClass.
    """
    expander = copy.outputs.get("expander")
    if expander and isinstance(expander, list):
        ranked = sorted(expander, key=lambda tier: -tier["priority"])
        return [[list(tier["pools"]) for tier in ranked]]
    rules = [body["spec"]["priorities"] for body in copy.classes]
    return [[list(rule.get("nodepools") or ()) for rule in each] for each in rules]


def _after(pool: str, declared: Sequence[Tiers]) -> list[str]:
    names: dict[str, None] = {}
    for order in declared:
        place = next((number for number, tier in enumerate(order) if pool in tier), len(order))
        names |= dict.fromkeys(name for tier in order[place + 1 :] for name in tier)
    return list(names)
