"""The largest requests that the program names for a pool fit the emulated clouds' nodes, with node agents on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from config.clouds.azure.azure_traits import Aks
from config.clouds.gcp.gcp_traits import Gke
from config.placement import node_pools
from config.placement.node_pools import NodePool
from sandbox.autoscaler.resources import quantity
from sandbox.tests.azure.conftest import POOL, REGULAR, Account
from sandbox.tests.gcp.test_nodes import node_of
from sandbox.tests.gcp.test_nodes import pool as gke_pool
from tests.config.stack import good, on_gke, spec


def assert_fits(pool: NodePool, allocatable: dict[str, Any]) -> None:
    for resource, agents in (("cpu", "400m"), ("memory", "900Mi")):
        room = quantity(allocatable[resource]) - quantity(agents)
        assert room * 7 / 10 < quantity(pool.largest_request[resource]) <= room


@pytest.mark.parametrize(
    "size", ["Standard_D4ds_v5", "Standard_NC4as_T4_v3", "Standard_NC24ads_A100_v4", "Standard_ND96asr_v4"]
)
@pytest.mark.parametrize("pods", [None, 30])
def test_on_aks(tmp_path: Path, size: str, pods: int | None) -> None:
    account = Account(tmp_path / "azure.json")
    account.group()
    account.cluster()
    account.create(POOL, {**REGULAR, "vmSize": size, "count": 1, **({"maxPods": pods} if pods else {})})
    node = next(iter(account.runtime.nodes.values()))[-1]
    wanted = good(pools=[{"name": "p", "machine": size, "maxNodes": 1, "maxPods": pods}])
    (pool,) = node_pools.node_pools(spec(wanted), Aks())
    assert_fits(pool, node["status"]["allocatable"])


@pytest.mark.parametrize("size", ["n2-standard-4", "g2-standard-8", "a2-highgpu-1g", "a3-highgpu-8g"])
def test_on_gke(size: str) -> None:
    wanted = on_gke([{"name": "p", "machine": size, "capacity": "spot", "maxNodes": 1}])
    (pool,) = (made for made in node_pools.node_pools(spec(wanted), Gke()) if made.name == "p")
    assert_fits(pool, node_of(gke_pool(size))["status"]["allocatable"])
