"""The cost of a stack's machines before and after a change, from each pool's fewest nodes to its
most, and as text."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from review.model import Cost, PoolCost
from sandbox.base.cloud_types import CLOUDS
from sandbox.cloud import prices

CAVEAT = (
    "Machines only: no disks, addresses, traffic, nor the fee for the cluster itself. "
    "Retail prices of that day; spot prices change all the time."
)

HOURS = 730
"""The hours of a month, as both clouds' price calculators count."""

_NONE = "no price"
_Range = tuple[float, float]
Place = tuple[str, str]
"""A cloud and one of its locations."""


def cost(
    place_before: Place,
    place_after: Place,
    pools_before: Sequence[Mapping[str, Any]],
    pools_after: Sequence[Mapping[str, Any]],
) -> Cost | None:
    """Return the cost of the pools in a stack's outputs; None without pools or a known cloud.

    A pool without a known price is marked.
    """
    if place_after[0] not in CLOUDS:
        return None
    before, after = (
        {str(pool.get("name", "")): pool for pool in pools} for pools in (pools_before, pools_after)
    )
    if not before and not after:
        return None
    sources: set[str] = set()
    costs = tuple(
        _pool(name, (place_before, before.get(name)), (place_after, after.get(name)), sources)
        for name in sorted({**before, **after})
    )
    return Cost(currency=prices.CURRENCY, pools=costs, sources=tuple(sorted(sources)))


_Side = tuple[Place, Mapping[str, Any] | None]


def _pool(name: str, before: _Side, after: _Side, sources: set[str]) -> PoolCost:
    ranges = [
        None if pool is None else _range(place, pool, sources) for place, pool in (before, after)
    ]
    existing = [pool for _, pool in (before, after) if pool is not None]
    return PoolCost(
        pool=name,
        machine=_changed(existing, "machine"),
        capacity=_changed(existing, "capacity"),
        before=ranges[0],
        after=ranges[1],
        unpriced=sum(each is not None for each in ranges) < len(existing),
    )


def _range(place: Place, pool: Mapping[str, Any], sources: set[str]) -> _Range | None:
    provider, region = place
    machine, bounds = str(pool.get("machine", "")), (pool.get("minNodes"), pool.get("maxNodes"))
    known = prices.node_price(provider, region, machine, gpus=bool(pool.get("gpus")))
    # The price list has none of flex-start.
    if known is None or pool.get("capacity") == "flex-start":
        return None
    node = known.spot if pool.get("capacity") == "spot" else known.on_demand
    fewest, most = bounds
    if node is None or not isinstance(fewest, int | float) or not isinstance(most, int | float):
        return None
    sources.add(known.source)
    return fewest * node, most * node


def _changed(pools: Sequence[Mapping[str, Any]], key: str) -> str:
    return " → ".join(dict.fromkeys(str(pool.get(key, "")) for pool in pools))


def hourly(pool: PoolCost) -> tuple[str, str]:
    """Return the hourly price of a pool, before and after."""
    missing = _NONE if pool.unpriced else ""
    before, after = (
        _written(each, 1, 2) if each else missing for each in (pool.before, pool.after)
    )
    return before, after


def total(cost: Cost) -> tuple[str, str]:
    """Return the hourly price of all priced pools, before and after."""
    return _totals(cost, 1, 2)


def monthly(cost: Cost) -> tuple[str, str]:
    """Return the monthly price of all priced pools, before and after."""
    return _totals(cost, HOURS, 0)


def _totals(cost: Cost, hours: int, digits: int) -> tuple[str, str]:
    before, after = (
        _sum(pool.before for pool in cost.pools),
        _sum(pool.after for pool in cost.pools),
    )
    return _written(before, hours, digits), _written(after, hours, digits)


def _sum(ranges: Iterable[_Range | None]) -> _Range:
    known = [each for each in ranges if each]
    return sum(least for least, _ in known), sum(most for _, most in known)


def _written(amounts: _Range, times: int, digits: int) -> str:
    return " to ".join(dict.fromkeys(_figure(number * times, digits) for number in amounts))


def _figure(number: float, digits: int) -> str:
    # An untrusted file may have any number.
    return f"{number:,.{digits}f}" if math.isfinite(number) and abs(number) < 1e9 else "?"
