"""Spot machines for hindsight: their price, and their number at each moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from drill.judge.pieces import HOUR, Piece, gpu_pools, model, on_demand_price
from drill.world.capacity import Capacity
from drill.world.record import Pool, Record

Levels = list[tuple[float, int | None]]
"""Seconds, and the nodes from then on; None without a bound. The first level begins at 0."""


@dataclass(frozen=True)
class Market:
    """One model of machine on spot. The price is that of one GPU for an hour."""

    gpus: int
    price: float
    levels: Levels


def markets(record: Record, *, all_zones: bool) -> dict[str, Market]:
    """Return the spot machines of the stack, with the capacity in the zones of their pools.

    With `all_zones` the other zones count that the capacity names for the machine. The capacity is
    never above the pools' `most` together, and never below the nodes of the drill: the cloud may
    take a machine some time after its capacity is gone.
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
    """Return the number of nodes of these pools over time, in the drill."""
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
    """Models of machines that may do a piece of work: `Reach(record, {}, ...).machines(piece)`.

    These are the models of the chain (`fallback`) of the pools that ran it, and of pools of the
    same machine. With `weaker_to_stronger` each machine of the stack counts that costs at least as
    much on demand a GPU: an A100 does the work of a T4, and not the reverse. `named` has pools by
    the name of the work, if the constraints of its pods are known: then those count.
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
            if (price := on_demand_price(pool)) is not None:
                self.on_demand[model(pool)] = price / pool.gpus
        self._memory: dict[tuple[object, ...], frozenset[str]] = {}

    def machines(self, piece: Piece) -> frozenset[str]:
        """Return the models with enough GPUs that may do a piece."""
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
        """Return the lowest price on demand of a piece's machines, for a GPU and hour."""
        return min(self.on_demand[each] for each in self.machines(piece) if each in self.on_demand)


def _chains(pools: Iterable[Pool]) -> list[set[str]]:
    """Return the models of the stack, in groups whose pools replace each other."""
    by_name = {pool.name: pool for pool in pools}
    chains: list[set[str]] = []
    for pool in by_name.values():
        joined = {model(pool), *(model(by_name[name]) for name in pool.fallback if name in by_name)}
        apart = [chain for chain in chains if not chain & joined]
        chains = [*apart, joined.union(*(chain for chain in chains if chain & joined))]
    return chains


def unpriced(record: Record) -> list[str]:
    """List the GPU pools without a price of their own, or on demand."""
    pools = gpu_pools(record).values()
    return sorted(
        pool.name for pool in pools if pool.price is None or on_demand_price(pool) is None
    )


def dollars(gpu_seconds: float, price: float) -> float:
    """Return the cost of GPU seconds at a price per GPU and hour."""
    return gpu_seconds * price / HOUR
