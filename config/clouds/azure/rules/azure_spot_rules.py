"""Checks of the purchase of spot machines."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.azure.azure_pool import spot_of
from config.clouds.traits import Cloud
from config.model.pool import Pool
from config.rules.draft import Draft

_DEAREST = 1000
"""Dollars an hour. The dearest machine of the price list (November 2026) costs 128 on demand; what is above is another unit, or
no limit, which is -1."""


def _price(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    price = spot_of(pool).max_price if pool.reclaimable else -1
    # learn.microsoft.com/azure/aks/spot-node-pool: -1, or positive with at most five decimals
    if price != -1 and (price <= 0 or round(price, 5) != price):
        yield Problem(
            f"{path}.spot.maxPrice",
            f"is {price:g}",
            "-1 (never evicted for price), or dollars an hour above 0 with at most five decimals",
        )
    elif price > _DEAREST:
        yield Problem(
            f"{path}.spot.maxPrice",
            f"is {price:g} dollars an hour, more than any machine costs",
            "-1 (never evicted for price), or dollars, not cents, of one machine and hour",
        )


def _eviction(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.reclaimable and spot_of(pool).eviction_policy == "Deallocate":
        yield Problem(
            f"{path}.spot.evictionPolicy",
            "is Deallocate: stopped machines count against the quota and confuse the autoscaler (Azure/AKS issue 5211)",
            "leave it out; the default is Delete",
            warning=True,
        )


POOL_RULES = (_price, _eviction)
