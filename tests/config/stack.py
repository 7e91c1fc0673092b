"""Stack files for tests: the smallest good one, and variations of it."""

from __future__ import annotations

import copy
from typing import Any

from config.clouds import registry
from config.model.spec import ClusterSpec
from config.placement.growth_order import growth_order
from config.placement.node_pools import node_pools
from config.stack_file import loader

GOOD: dict[str, Any] = {
    "release": "r2026-11",
    "cluster": {"name": "ml-test"},
    "cloud": {"provider": "azure", "location": "westeurope"},
    "systemPool": {"machine": "Standard_D4ds_v5", "minNodes": 2, "maxNodes": 4},
    "pools": [
        {"name": "general", "machine": "Standard_D8ds_v5", "minNodes": 1, "maxNodes": 6},
        {
            "name": "t4",
            "machine": "Standard_NC4as_T4_v3",
            "capacity": "spot",
            "maxNodes": 8,
            "fallback": [{"pool": "t4big"}, {"onDemand": {"maxNodes": 2}}],
        },
        {"name": "t4big", "machine": "Standard_NC8as_T4_v3", "capacity": "spot", "maxNodes": 4},
    ],
    # Its chain has two spot pools and a small twin, which draws warnings of their own (tests/config/test_chains.py).
    "growth": {"acceptedWait": "24h"},
}


def good(**top: Any) -> dict[str, Any]:
    """A good stack file with some top keys replaced."""
    return {**copy.deepcopy(GOOD), **top}


def with_pool(**keys: Any) -> dict[str, Any]:
    """A good stack file whose second pool, the spot pool t4, has these keys besides its own."""
    raw = good()
    raw["pools"][1].update(keys)
    return raw


def spec(raw: dict[str, Any]) -> ClusterSpec:
    """The spec of a stack file that must be good."""
    parsed, problems = loader.read(raw)
    assert parsed is not None, problems
    return parsed


def grown(spec: ClusterSpec) -> tuple[str, ...]:
    """The order in which the stack's pools grow."""
    cloud = registry.of(spec.cloud)
    return growth_order(spec, node_pools(spec, cloud), cloud)


def on_gke(pools: list[dict[str, Any]] | None = None, **cloud: Any) -> dict[str, Any]:
    """Return a good stack file for GKE, with own pools and further keys of `cloud`; an on-demand pool is last if none is among
    them, as all pools on spot draw a warning of their own."""
    general = {"name": "general", "machine": "n2-standard-8", "maxNodes": 6}
    alone = all(pool.get("capacity", "on-demand") != "on-demand" for pool in pools or [])
    return {
        "release": "r2026-11",
        "cluster": {"name": "ml-test"},
        "cloud": {"provider": "gcp", "project": "example-ml", "location": "europe-west4", **cloud},
        "systemPool": {"machine": "e2-standard-4", "minNodes": 2, "maxNodes": 4},
        "growth": {"acceptedWait": "24h"},
        "pools": [*(pools or []), *([general] if alone else [])],
    }
