"""Tolerations of a pod for a pool: exactly those that the pool's taints need, one a key."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from config.clouds.azure.traits import aks
from config.model.pool import Capacity
from config.model.scheduling import Placement
from config.model.taint import Effect, Taint, Toleration
from config.placement import node_pools as placement
from config.placement import pods
from config.placement.node_pools import NodePool
from tests.config.stack import good, spec
from tests.config.test_placement import pool_lists

T4, D8 = "Standard_NC4as_T4_v3", "Standard_D8ds_v5"
SPOT = Toleration(key="kubernetes.azure.com/scalesetpriority", value="spot", effect=Effect.NO_SCHEDULE)
GPU = Toleration(key="nvidia.com/gpu", value="present", effect=Effect.NO_SCHEDULE)


def node_pools(*pools: dict[str, Any]) -> tuple[NodePool, ...]:
    return placement.node_pools(spec(good(pools=list(pools))), aks())


def t4(**changes: Any) -> dict[str, Any]:
    return {"name": "t4", "machine": T4, "capacity": "spot", "maxNodes": 8, **changes}


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/"""
    return (
        toleration.key == taint.key
        and (toleration.operator == "Exists" or toleration.value == taint.value)
        and toleration.effect in (None, taint.effect)
    )


@given(pool_lists())
def test_a_pods_tolerations_cover_the_pools_taints_and_nothing_else_with_one_a_key(pools: list[dict[str, Any]]) -> None:
    placed = node_pools(*pools)
    taints = [taint for pool in placed for taint in pool.taints]
    given = pods.tolerations(placed)
    assert all(any(tolerates(toleration, taint) for toleration in given) for taint in taints)
    assert all(any(tolerates(toleration, taint) for taint in taints) for toleration in given)
    assert len({toleration.key for toleration in given}) == len(given)


def test_taints_of_one_key_with_several_values_or_effects_are_tolerated_together() -> None:
    several = node_pools(
        t4(taints=[{"key": "team", "value": "a"}, {"key": "team", "value": "a", "effect": "NoExecute"}]),
        t4(name="t4b", taints=[{"key": "zone", "value": "1"}]),
        t4(
            name="t4c",
            taints=[{"key": "zone", "value": "2"}, {"key": "hint", "value": "x", "effect": "PreferNoSchedule"}],
        ),
    )
    assert pods.tolerations(several) == (
        SPOT,
        GPU,
        Toleration(key="team", value="a"),
        Toleration(key="zone", operator="Exists", effect=Effect.NO_SCHEDULE),
    )


@pytest.mark.parametrize(
    ("wanted", "gpu", "names"),
    [
        (Placement.PREFER_SPOT, True, ["t4", "t4od"]),
        (Placement.REQUIRE_SPOT, True, ["t4"]),
        (Placement.ON_DEMAND, True, ["t4od"]),
        (Placement.PREFER_SPOT, False, ["cpuspot"]),
        (Placement.REQUIRE_SPOT, False, ["cpuspot"]),
        (Placement.ON_DEMAND, False, []),
    ],
)
def test_the_pools_a_pod_may_use(wanted: Placement, gpu: bool, names: list[str]) -> None:
    placed = node_pools(
        t4(fallback=[{"onDemand": {"maxNodes": 1}}]),
        {"name": "cpuspot", "machine": D8, "capacity": "spot", "maxNodes": 3},
        {"name": "general", "machine": D8, "maxNodes": 3, "taints": [{"key": "team", "value": "a"}]},
    )
    assert [pool.name for pool in pods.usable(placed, wanted, gpu=gpu)] == names


@given(pool_lists())
def test_no_pod_without_gpus_gets_the_gpu_taints_toleration(pools: list[dict[str, Any]]) -> None:
    placed = node_pools(*pools)
    for wanted in Placement:
        assert GPU not in pods.tolerations(pods.usable(placed, wanted, gpu=False))


def test_a_users_taint_that_a_twin_has_as_well_does_not_separate_spot() -> None:
    own = {"taints": [{"key": "team", "value": "a"}]}
    alone = node_pools(t4(**own))
    assert [str(taint) for taint in pods.spot_taints(alone)] == [
        "kubernetes.azure.com/scalesetpriority=spot:NoSchedule",
        "team=a:NoSchedule",
    ]
    with_twin = node_pools(t4(**own, fallback=[{"onDemand": {"maxNodes": 1}}]))
    assert [str(taint) for taint in pods.spot_taints(with_twin)] == [
        "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"
    ]


@given(pool_lists())
def test_spot_taints_are_on_no_on_demand_pool(pools: list[dict[str, Any]]) -> None:
    placed = node_pools(*pools)
    kept = {taint for pool in placed if pool.capacity == Capacity.ON_DEMAND for taint in pool.taints}
    assert not kept & set(pods.spot_taints(placed))


def test_shared_gpus_are_for_pods_that_ask_for_them_unless_all_are_shared() -> None:
    shared = t4(
        name="shared",
        gpuSharing={"strategy": "time-slicing", "replicas": 4},
        taints=[{"key": "shared", "value": "yes"}],
    )
    assert [pool.name for pool in pods.usable(node_pools(t4(), shared), Placement.PREFER_SPOT, gpu=True)] == ["t4"]
    assert [pool.name for pool in pods.usable(node_pools(shared), Placement.PREFER_SPOT, gpu=True)] == ["shared"]
