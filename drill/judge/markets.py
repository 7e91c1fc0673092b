"""Spot machines as hindsight may use them: their price, and how many there were at each moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from drill.judge.pieces import HOUR, Piece, gpu_pools, model
from drill.world.capacity import Capacity
from drill.world.record import Pool, Record

Levels = list[tuple[float, int | None]]
"""Seconds, and the nodes from then on; None without a bound. The first at 0."""


@dataclass(frozen=True)
class Market:
    """One model of machine on spot. The price is that of one GPU for an hour."""

    gpus: int
    price: float
    levels: Levels


def markets(record: Record, *, all_zones: bool) -> dict[str, Market]:
    """The spot machines of the stack, with the capacity in the zones of their pools.

    With `all_zones` also in the other zones that the capacity names for the machine.

    At no moment is it more than the pools' `most` together. At no moment is it less than the nodes which the drill had: those
    it had were there to have, also where the cloud takes a machine some time after its capacity is gone.
    """
    capacity = Capacity(record.capacity)
    by_model: dict[str, list[Pool]] = defaultdict(list)
    for pool in gpu_pools(record).values():
        if pool.capacity == "spot" and pool.price is not None:
            by_model[model(pool)].append(pool)
    found = {}
    for name, pools in by_model.items():
        machine = pools[0].machine
        zones = {zone for pool in pools for zone in pool.zones}
        if any(not pool.zones for pool in pools) or all_zones:
            zones |= set(capacity.zones(machine))
        bounds = [pool.most for pool in pools]
        most = None if None in bounds else sum(bound for bound in bounds if bound is not None)
        own = _own(record, {pool.name for pool in pools})
        times = {step.at for step in capacity.changes() if 0 < step.at < record.clock.length}
        levels: Levels = []
        place = -1
        for at in sorted({0.0, *times, *(at for at, _ in own)}):
            while place + 1 < len(own) and own[place + 1][0] <= at:
                place += 1
            there = _least(most, capacity.total(machine, zones, at))
            levels.append((at, there if there is None else max(there, own[place][1])))
        found[name] = Market(
            pools[0].gpus, min(pool.price or 0.0 for pool in pools) / pools[0].gpus, levels
        )
    return found


def _least(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def _own(record: Record, pools: Collection[str]) -> list[tuple[float, int]]:
    """The number of nodes of these pools over time, as the drill had them."""
    changes: dict[float, int] = defaultdict(int, {0.0: 0})
    for node in record.nodes:
        begin = node.ready if node.ready is not None else node.registered
        if node.pool in pools and begin is not None:
            changes[max(0.0, begin)] += 1
            changes[record.clock.length if node.gone is None else node.gone] -= 1
    levels, now = [], 0
    for at in sorted(changes):
        now += changes[at]
        levels.append((at, now))
    return levels


class Reach:
    """Models of machines that may do a piece of work instead of those that did it.

    Always those of the chain (`fallback`) of the pools that ran it, and pools of the same machine. Where `weaker_to_stronger`,
    also each machine of the stack that costs at least as much on demand a GPU: an A100 does what a T4 does, and not the
    reverse. Whoever knows the constraints of the work's pods names pools in `named`, by the name of the work: then those count.
    """

    def __init__(
        self, record: Record, named: dict[str, Collection[str]], *, weaker_to_stronger: bool
    ) -> None:
        self._pools = gpu_pools(record)
        self._named = named
        self._wide = weaker_to_stronger
        self._chains = _chains(self._pools.values())
        self.on_demand: dict[str, float] = {}
        """The price of a model on demand, for one GPU and hour."""
        for pool in self._pools.values():
            price = pool.price if pool.capacity == "on-demand" else pool.on_demand_price
            if price is not None:
                each = price / pool.gpus
                self.on_demand[model(pool)] = each
        self._memory: dict[tuple[object, ...], frozenset[str]] = {}

    def machines(self, piece: Piece) -> frozenset[str]:
        """Models with enough GPUs for the piece that may do it."""
        named = self._named.get(piece.work)
        key = (piece.pools, piece.gpus, None if named is None else frozenset(named))
        if key not in self._memory:
            self._memory[key] = self._found(piece, named)
        return self._memory[key]

    def _found(self, piece: Piece, named: Collection[str] | None) -> frozenset[str]:
        ran = {model(self._pools[name]) for name in piece.pools}
        found = {machine for chain in self._chains if chain & ran for machine in chain}
        if named is not None:
            allowed = {model(self._pools[name]) for name in named if name in self._pools}
            found = allowed if self._wide else found & allowed
        elif self._wide:
            weakest = min(self.on_demand[machine] for machine in ran)
            found |= {machine for machine, price in self.on_demand.items() if price >= weakest}
        enough = {model(pool) for pool in self._pools.values() if pool.gpus >= piece.gpus}
        return frozenset(ran | (found & enough))

    def price(self, piece: Piece) -> float:
        """The lowest price on demand of the piece's machines, for a GPU and hour."""
        return min(
            self.on_demand[machine] for machine in self.machines(piece) if machine in self.on_demand
        )


def _chains(pools: Iterable[Pool]) -> list[set[str]]:
    """The models of the stack, those together whose pools stand in for each other."""
    by_name = {pool.name: pool for pool in pools}
    chains: list[set[str]] = []
    for pool in by_name.values():
        joined = {model(pool), *(model(by_name[name]) for name in pool.fallback if name in by_name)}
        apart = [chain for chain in chains if not chain & joined]
        chains = [*apart, joined.union(*(chain for chain in chains if chain & joined))]
    return chains


def unpriced(record: Record) -> list[str]:
    """The GPU pools without a price of their own, or on demand."""
    return sorted(
        pool.name
        for pool in gpu_pools(record).values()
        if pool.price is None or _on_demand(pool) is None
    )


def _on_demand(pool: Pool) -> float | None:
    return pool.price if pool.capacity == "on-demand" else pool.on_demand_price


def dollars(gpu_seconds: float, price: float) -> float:
    return gpu_seconds * price / HOUR
