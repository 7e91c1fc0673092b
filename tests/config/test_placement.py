"""What is derived from a pool agrees, for any pools in any order; pods get the tolerations that its taints need, one a key."""

import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.clouds.azure.azure_traits import Aks
from config.clouds.existing.existing_traits import ExistingCluster
from config.clouds.gcp.gcp_traits import Gke
from config.model.pool import Capacity, Effect, Taint, Toleration
from config.model.scheduling import Placement
from config.placement import contract, node_pools, pods
from config.placement.node_pools import CAPACITY_LABEL, CRITICAL_ADDONS_TAINT, POOL_LABEL
from tests.config.stack import (
    FLEX,
    L4,
    aks,
    good,
    grown,
    on_existing,
    on_gke,
    placed,
    placed_pools,
    spec,
    system,
    with_pool,
)

SIZES = ["Standard_D8ds_v5", "Standard_NC4as_T4_v3", "Standard_NC8as_T4_v3", "Standard_NC24ads_A100_v4"]

SPOT, GPU = "kubernetes.azure.com/scalesetpriority", "nvidia.com/gpu=present:NoSchedule"
NAMES = st.text("abcdo123", max_size=8).map(lambda text: "p" + text)


@st.composite
def pool_lists(draw: st.DrawFn) -> list[dict[str, Any]]:
    names = draw(st.lists(NAMES, min_size=1, max_size=8, unique=True))
    # A generated name may be what another one's twin is called.
    names = [n for n in names if not any(n == other + "od" for other in names)]
    pools: list[dict[str, Any]] = []
    for name in names:
        pool: dict[str, Any] = {
            "name": name,
            "machine": draw(st.sampled_from(SIZES)),
            "capacity": draw(st.sampled_from(["spot", "on-demand"])),
            "maxNodes": draw(st.integers(1, 20)),
        }
        if pool["capacity"] == "spot" and draw(st.booleans()):
            gpu = "_NC" in pool["machine"]
            earlier = [p["name"] for p in pools if p["capacity"] == "spot" and ("_NC" in p["machine"]) == gpu]
            steps: list[dict[str, Any]] = [{"pool": draw(st.sampled_from(earlier))}] if earlier else []
            pool["fallback"] = [*steps, {"onDemand": {"maxNodes": draw(st.integers(1, 3))}}]
        if draw(st.booleans()):
            pool["taints"] = [{"key": "team", "value": draw(st.sampled_from(["a", "b"]))}]
        pools.append(pool)
    return pools


@given(pool_lists(), st.randoms(use_true_random=False))
def test_nothing_depends_on_the_order_of_pools(pools: list[dict[str, Any]], rng: random.Random) -> None:
    first, second = aks(*pools), aks(*rng.sample(pools, len(pools)))
    assert [*placed(first).items()] == [*placed(second).items()]
    assert grown(spec(first)) == grown(spec(second))


@given(pool_lists())
def test_every_pool_has_its_own_rank_and_those_without_gpus_stand_before_those_with(
    pools: list[dict[str, Any]],
) -> None:
    gpus = {pool.name: pool.gpus for pool in placed(aks(*pools)).values()} | {"system": 0}
    order = grown(spec(aks(*pools)))
    assert sorted(order) == sorted(gpus)
    assert [gpus[name] > 0 for name in order] == sorted(gpus[name] > 0 for name in order)


@given(pool_lists(), st.data())
def test_a_chain_keeps_its_order_and_ends_with_its_twin(pools: list[dict[str, Any]], data: st.DataObject) -> None:
    later = {step["pool"] for pool in pools for step in pool.get("fallback", []) if "pool" in step}
    heads = [pool["name"] for pool in pools if pool["name"] not in later]
    listed = data.draw(st.lists(st.sampled_from(heads), unique=True)) if heads else []
    # Where prices are known, a twin may stand before dearer spot.
    unpriced = {"provider": "azure", "location": "norwayeast"}
    order = grown(spec(good(pools=pools, growth={"order": listed}, cloud=unpriced)))
    for pool in pools:
        chain = [pool["name"], *(step["pool"] for step in pool.get("fallback", []) if "pool" in step)]
        twin = [f"{pool['name']}od"] if any("onDemand" in step for step in pool.get("fallback", [])) else []
        assert [order.index(name) for name in chain + twin] == sorted(order.index(name) for name in chain + twin)


@given(pool_lists())
def test_names_stay_distinct_and_valid(pools: list[dict[str, Any]]) -> None:
    names = [pool.name for pool in node_pools.node_pools(spec(aks(*pools)), Aks())]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 12 for name in names)


def test_a_spot_gpu_pool_carries_the_programs_the_users_and_the_clouds_labels_and_taints() -> None:
    t4 = placed(with_pool(labels={"gpu": "true"}, taints=[{"key": "team", "value": "vision"}]))["t4"]
    assert t4.labels == {
        "gpu": "true",
        "kubeflow-spot.dev/accelerator": "nvidia-t4",
        "kubeflow-spot.dev/capacity": "spot",
        "kubeflow-spot.dev/pool": "t4",
        SPOT: "spot",
    }
    assert [*map(str, t4.taints)] == [f"{SPOT}=spot:NoSchedule", GPU, "team=vision:NoSchedule"]
    assert (t4.min_nodes, t4.max_nodes, t4.gpus) == (0, 8, 1)


@pytest.mark.parametrize("raw", [good(), with_pool(labels={SPOT: "spot"}, taints=[{"key": SPOT, "value": "spot"}])])
def test_a_twin_is_the_same_machine_on_demand_without_the_clouds_labels_and_taints_of_spot(raw: dict[str, Any]) -> None:
    pools = placed(raw)
    twin = pools["t4od"]
    assert (twin.source.name, twin.machine, twin.capacity) == ("t4", "Standard_NC4as_T4_v3", "on-demand")
    assert (twin.min_nodes, twin.max_nodes, twin.spot) == (0, 2, False)
    assert [*map(str, twin.taints)] == [GPU]
    assert SPOT not in twin.labels
    assert len(pools["t4"].taints) == 2


def test_names_that_are_cut_for_a_twin_or_a_generation_stay_distinct_and_legal() -> None:
    spot = {"machine": SIZES[1], "capacity": "spot", "maxNodes": 1, "fallback": [{"onDemand": {"maxNodes": 1}}]}
    general = {"machine": SIZES[0], "maxNodes": 1, "generation": "b"}
    pools = [
        {"name": f"{name}{end}", **pool}
        for name, pool in (("abcdefghijk", spot), ("generalpool", general))
        for end in "xyz"
    ]
    names = [*placed(aks(*pools))]
    assert len(names) == 9
    assert all(re.fullmatch(Aks().pool_name, name) for name in names)


def test_a_generation_changes_the_name_and_nothing_that_users_select_by() -> None:
    pool = {"name": "general", "machine": SIZES[0], "maxNodes": 3}
    first, second = placed(aks(pool))["general"], placed(aks({**pool, "generation": "b"}))["generalb"]
    assert first.labels == second.labels
    # On demand and without GPUs, it keeps one node and has no taint.
    assert (first.min_nodes, first.taints, first.gpus) == (1, (), 0)


def test_a_fractional_gpu_counts_as_one_device() -> None:
    assert placed(aks({"name": "a10", "machine": "Standard_NV6ads_A10_v5", "maxNodes": 1}))["a10"].gpus == 1


def test_the_system_pool_is_an_on_demand_node_pool_with_a_role() -> None:
    stack = spec(system(machine="standard_d4DS_v5", zones=["3", "1"], criticalAddonsOnly=True))
    assert stack.system_pool
    pool = node_pools.system_pool(stack.system_pool, Aks())
    assert (pool.role, pool.name, pool.machine, pool.zones) == ("system", "system", "Standard_D4ds_v5", ("1", "3"))
    assert pool.labels == {CAPACITY_LABEL: "on-demand", POOL_LABEL: "system"}
    assert pool.taints == (CRITICAL_ADDONS_TAINT,)
    assert {pool.role for pool in node_pools.node_pools(stack, Aks())} == {"user"}


T4, D8 = "Standard_NC4as_T4_v3", "Standard_D8ds_v5"
SPOT_TOLERATION = Toleration(key="kubernetes.azure.com/scalesetpriority", value="spot", effect=Effect.NO_SCHEDULE)
GPU_TOLERATION = Toleration(key="nvidia.com/gpu", value="present", effect=Effect.NO_SCHEDULE)


def t4(**changes: Any) -> dict[str, Any]:
    return {"name": "t4", "machine": T4, "capacity": "spot", "maxNodes": 8, **changes}


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Match as https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/ says."""
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
        SPOT_TOLERATION,
        GPU_TOLERATION,
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
        assert GPU_TOLERATION not in pods.tolerations(pods.usable(placed, wanted, gpu=False))


SPOT_OF_GKE = [f"cloud.google.com/gke-{way}=true:NoSchedule" for way in ("flex-start", "preemptible", "spot")]


def test_on_a_cloud_that_marks_spot_nodes_no_other_taint_separates_spot() -> None:
    """A notebook may tolerate its team's taint though spot machines alone have it: theirs keeps it off all the same."""
    placed = placed_pools(aks(t4(taints=[{"key": "team", "value": "a"}])))
    assert [*map(str, pods.spot_taints(placed, Aks()))] == ["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]


def test_the_taint_of_a_compute_class_of_spot_pools_alone_does_not_separate_spot() -> None:
    """The cluster itself makes every pod with a GPU_TOLERATION tolerate it: a notebook's too, which then waits for another pool."""
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
