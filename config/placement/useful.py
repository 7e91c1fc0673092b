"""The cost of a useful GPU hour: what an hour of GPU work costs that was needed, idle machines and repeated work included.

Shares of a drawn week on dev, measured by drills (docs/adr/0022): the GPU hours of spot machines that work, of those the work that
is not done again after an eviction, and the GPU hours of on-demand machines that work. By them a spot machine costs less than an
on-demand one below about 0.82 of its price (0.79 x 0.943 / 0.91).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from config.clouds.prices import price
from config.clouds.traits import Cloud
from config.model.pool import Capacity
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool

WORKING: Mapping[Capacity, float] = {Capacity.SPOT: 0.79, Capacity.ON_DEMAND: 0.91}
"""The share of its paid GPU hours in which a machine works: it boots, and it is idle before it goes."""
KEPT: Mapping[Capacity, float] = {Capacity.SPOT: 0.943, Capacity.ON_DEMAND: 1.0}
"""The share of the work that is not done again."""


def useful_gpu_hour(
    pool: NodePool, spec: ClusterSpec, cloud: Cloud, needed: int = 1
) -> float | None:
    """Return US dollars for a useful hour of one GPU, for work that needs so many GPUs; None without GPUs or a known price.

    Machines are paid whole: a pod of one GPU alone on a machine of four costs the four.
    """
    paid = price(cloud.provider, spec.cloud.place or "", pool.machine, pool.capacity)
    if paid is None or not pool.gpus:
        return None
    return (
        paid
        * math.ceil(needed / pool.gpus)
        / needed
        / (WORKING[pool.capacity] * KEPT[pool.capacity])
    )
