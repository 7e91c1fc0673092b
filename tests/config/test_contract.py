"""The contract with users' tools: the lines of each placement, and nothing that a resize would change."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given

from config.clouds.azure.azure_traits import Aks
from config.placement import contract
from config.placement import node_pools as placement
from config.placement.node_pools import NodePool
from tests.config.stack import good, spec
from tests.config.test_placement import pool_lists

T4, D8 = "Standard_NC4as_T4_v3", "Standard_D8ds_v5"
GENERAL = {"name": "general", "machine": D8, "maxNodes": 3}
SWEEP = {"name": "sweep", "machine": D8, "capacity": "spot", "maxNodes": 3}
SPOT = {"name": "t4", "machine": T4, "capacity": "spot", "maxNodes": 8}
WITH_TWIN = {**SPOT, "fallback": [{"onDemand": {"maxNodes": 1}}]}
ON_DEMAND = {"name": "t4own", "machine": T4, "maxNodes": 2}


def node_pools(*pools: dict[str, Any]) -> tuple[NodePool, ...]:
    return placement.node_pools(spec(good(pools=list(pools))), Aks())


def published(*pools: dict[str, Any]) -> str:
    placed = node_pools(*pools)
    return json.dumps([contract.described_pools(placed), contract.snippets(placed)])


@pytest.mark.parametrize(
    ("pools", "names"),
    [
        ([GENERAL], []),
        ([GENERAL, WITH_TWIN], ["gpu-prefer-spot", "gpu-require-spot", "gpu-on-demand"]),
        ([GENERAL, SPOT], ["gpu-prefer-spot", "gpu-require-spot"]),
        ([GENERAL, ON_DEMAND], ["gpu-prefer-spot", "gpu-on-demand"]),
        ([GENERAL, SWEEP], ["cpu-prefer-spot", "cpu-require-spot"]),
    ],
)
def test_each_placement_that_has_pools_has_lines(pools: list[dict[str, Any]], names: list[str]) -> None:
    snippets = contract.snippets(node_pools(*pools))
    assert [name for name in snippets if not name.startswith("pool-")] == names


def test_the_lines_of_one_pool() -> None:
    spot = {
        "key": "kubernetes.azure.com/scalesetpriority",
        "operator": "Equal",
        "value": "spot",
        "effect": "NoSchedule",
    }
    gpu = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    snippets = contract.snippets(node_pools(GENERAL, WITH_TWIN))
    assert snippets["pool-t4"] == {"tolerations": [spot, gpu], "nodeSelector": {"kubeflow-spot.dev/pool": "t4"}}
    assert snippets["pool-general"] == {"tolerations": [], "nodeSelector": {"kubeflow-spot.dev/pool": "general"}}


def test_a_pool_is_described_by_what_its_nodes_show_and_its_lines_outlive_a_generation() -> None:
    pools = node_pools({**ON_DEMAND, "generation": "b", "labels": {"team": "vision"}})
    assert contract.snippets(pools)["pool-t4own"]["nodeSelector"] == {"kubeflow-spot.dev/pool": "t4own"}
    assert contract.described_pools(pools) == [
        {
            "name": "t4ownb",
            "label": "t4own",
            "capacity": "on-demand",
            "accelerator": "nvidia-t4",
            "gpus": 1,
            "largestRequest": {"cpu": "3300m", "memory": "20Gi", "nvidia.com/gpu": "1"},
            "labels": {
                "kubeflow-spot.dev/accelerator": "nvidia-t4",
                "kubeflow-spot.dev/capacity": "on-demand",
                "kubeflow-spot.dev/pool": "t4own",
                "team": "vision",
            },
            "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}],
        }
    ]


@given(pool_lists())
def test_bounds_prices_and_order_change_nothing(pools: list[dict[str, Any]]) -> None:
    resized = copy.deepcopy(pools)[::-1]
    for pool in resized:
        pool |= {"maxNodes": pool["maxNodes"] + 7, "minNodes": 2}
        if pool["capacity"] == "spot":
            pool["spot"] = {"maxPrice": 0.31}
        for step in pool.get("fallback", []):
            if "onDemand" in step:
                step["onDemand"]["maxNodes"] += 3
    assert published(*resized) == published(*pools)


@pytest.mark.parametrize(
    "change",
    [
        {"maxPods": 30},
        {"labels": {"a": "b"}},
        {"taints": [{"key": "a", "value": "b"}]},
        {"machine": "Standard_NC24ads_A100_v4"},
    ],
)
def test_labels_and_taints_change_it(change: dict[str, Any]) -> None:
    assert published({**SPOT, **change}) != published(SPOT)
