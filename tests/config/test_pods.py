"""Tolerations of a pod for a pool: exactly those that the pool's taints need, one a key."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from config.clouds.azure.azure_traits import Aks
from config.clouds.existing.existing_traits import ExistingCluster
from config.clouds.gcp.gcp_traits import Gke
from config.model.pool import Capacity, Effect, Taint, Toleration
from config.model.scheduling import Placement
from config.placement import contract, pods
from tests.config.stack import FLEX, L4, aks, on_existing, on_gke, placed_pools
from tests.config.test_placement import pool_lists

T4, D8 = "Standard_NC4as_T4_v3", "Standard_D8ds_v5"
SPOT = Toleration(key="kubernetes.azure.com/scalesetpriority", value="spot", effect=Effect.NO_SCHEDULE)
GPU = Toleration(key="nvidia.com/gpu", value="present", effect=Effect.NO_SCHEDULE)


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
    placed = placed_pools(aks(*pools))
    taints = [taint for pool in placed for taint in pool.taints]
    given = pods.tolerations(placed)
    assert all(any(tolerates(toleration, taint) for toleration in given) for taint in taints)
    assert all(any(tolerates(toleration, taint) for taint in taints) for toleration in given)
    assert len({toleration.key for toleration in given}) == len(given)


def test_taints_of_one_key_with_several_values_or_effects_are_tolerated_together() -> None:
    team, zone, hint = ({"key": key, "value": "a"} for key in ("team", "zone", "hint"))
    first = t4(taints=[team, {**team, "effect": "NoExecute"}])
    third = t4(name="t4c", taints=[{**zone, "value": "2"}, {**hint, "effect": "PreferNoSchedule"}])
    assert pods.tolerations(placed_pools(aks(first, t4(name="t4b", taints=[zone]), third))) == (
        SPOT,
        GPU,
        Toleration(key="team", value="a"),
        Toleration(key="zone", operator="Exists", effect=Effect.NO_SCHEDULE),
    )


def usable(raw: dict[str, Any], wanted: Placement, *, gpu: bool = True) -> list[str]:
    return [pool.name for pool in pods.usable(placed_pools(raw), wanted, gpu=gpu)]


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
    cpu = {"name": "cpuspot", "machine": D8, "capacity": "spot", "maxNodes": 3}
    general = {"name": "general", "machine": D8, "maxNodes": 3, "taints": [{"key": "team", "value": "a"}]}
    pools = aks(t4(fallback=[{"onDemand": {"maxNodes": 1}}]), cpu, general)
    assert usable(pools, wanted, gpu=gpu) == names


@given(pool_lists())
def test_no_pod_without_gpus_gets_the_gpu_taints_toleration(pools: list[dict[str, Any]]) -> None:
    placed = placed_pools(aks(*pools))
    for wanted in Placement:
        assert GPU not in pods.tolerations(pods.usable(placed, wanted, gpu=False))


SPOT_OF_GKE = [f"cloud.google.com/gke-{way}=true:NoSchedule" for way in ("flex-start", "preemptible", "spot")]


def test_on_a_cloud_that_marks_spot_nodes_no_other_taint_separates_spot() -> None:
    """A notebook may tolerate its team's taint though spot machines alone have it: theirs keeps it off all the same."""
    placed = placed_pools(aks(t4(taints=[{"key": "team", "value": "a"}])))
    assert [*map(str, pods.spot_taints(placed, Aks()))] == ["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]


def test_the_taint_of_a_compute_class_of_spot_pools_alone_does_not_separate_spot() -> None:
    """The cluster itself makes every pod with a GPU tolerate it: a notebook's too, which then waits for another pool."""
    placed = placed_pools({**on_gke(), "pools": [{**L4, "fallback": [{"pool": "l4b"}]}, {**L4, "name": "l4b"}]})
    assert all("cloud.google.com/compute-class" in {taint.key for taint in pool.taints} for pool in placed)
    assert [str(taint) for taint in pods.spot_taints(placed, Gke())] == SPOT_OF_GKE


def test_elsewhere_the_taints_that_no_on_demand_pool_has_separate_spot() -> None:
    def taints(*pools: dict[str, Any]) -> list[str]:
        placed = placed_pools(on_existing(*pools) | {"release": "r2026-09"})
        return [*map(str, pods.spot_taints(placed, ExistingCluster()))]

    both = [
        {"key": "team", "value": "a"},
        {"key": "cheap", "value": "yes"},
        {"key": "hint", "value": "x", "effect": "PreferNoSchedule"},
    ]
    lent = {"name": "lent", "machine": "rack", "gpus": 1, "capacity": "spot", "maxNodes": 2, "taints": both}
    kept = {"name": "kept", "machine": "rack", "gpus": 1, "maxNodes": 2, "taints": both[:1]}
    assert taints(lent) == ["cheap=yes:NoSchedule", "team=a:NoSchedule"]
    assert taints(lent, kept) == ["cheap=yes:NoSchedule"]


@given(pool_lists())
def test_spot_taints_are_on_every_spot_pool_and_on_no_on_demand_pool(pools: list[dict[str, Any]]) -> None:
    placed = placed_pools(aks(*pools))
    spot = set(pods.spot_taints(placed, Aks()))
    assert all(bool(spot & set(pool.taints)) == (pool.capacity == Capacity.SPOT) for pool in placed)


def test_shared_gpus_are_for_pods_that_ask_for_them_unless_all_are_shared() -> None:
    sharing = {"strategy": "time-slicing", "replicas": 4}
    shared = t4(name="shared", gpuSharing=sharing, taints=[{"key": "shared", "value": "yes"}])
    assert usable(aks(t4(), shared), Placement.PREFER_SPOT) == ["t4"]
    assert usable(aks(shared), Placement.PREFER_SPOT) == ["shared"]


def test_pods_that_prefer_spot_may_wait_for_flex_start_and_those_that_require_it_may_not() -> None:
    chain = [{"pool": "flex"}, {"onDemand": {"maxNodes": 1}}]
    raw = {**on_gke(), "pools": [{**L4, "fallback": chain}, FLEX]}
    assert {wanted: usable(raw, wanted) for wanted in Placement} == {
        Placement.PREFER_SPOT: ["flex", "l4", "l4od"],
        Placement.REQUIRE_SPOT: ["l4"],
        Placement.ON_DEMAND: ["l4od"],
    }
    placed = placed_pools(raw)
    ends = Toleration(key="cloud.google.com/gke-flex-start", value="true", effect=Effect.NO_SCHEDULE)
    assert ends in pods.tolerations(pods.usable(placed, Placement.PREFER_SPOT, gpu=True))
    stays = contract.snippets(placed)["gpu-on-demand"]["affinity"]["nodeAffinity"]
    (term,) = stays["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["spot", "flex-start"]
