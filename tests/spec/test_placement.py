"""Everything derived from a pool agrees, whatever the pools are and in whatever order they are written."""

from __future__ import annotations

import random
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from spec import placement
from spec.clouds.azure import aks
from spec.model import Capacity, Taint
from tests.spec.stack import good, spec, with_pool

SIZES = ["Standard_D8ds_v5", "Standard_NC4as_T4_v3", "Standard_NC8as_T4_v3", "Standard_NC24ads_A100_v4"]


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
    shuffled = rng.sample(pools, len(pools))
    one, other = spec(good(pools=pools)), spec(good(pools=shuffled))
    assert placement.node_pools(one, aks()) == placement.node_pools(other, aks())
    assert placement.growth_order(one, aks()) == placement.growth_order(other, aks())


@given(pool_lists())
def test_every_pool_has_its_own_rank_and_all_spot_ranks_are_above_all_on_demand_ranks(
    pools: list[dict[str, Any]],
) -> None:
    wanted = spec(good(pools=pools))
    by_name = {pool.name: pool for pool in placement.node_pools(wanted, aks())}
    order = placement.growth_order(wanted, aks())
    assert sorted(order) == sorted(by_name)
    capacities = [by_name[name].capacity for name in order]
    assert capacities == sorted(capacities, key=lambda capacity: capacity == Capacity.ON_DEMAND)


@given(pool_lists())
def test_a_chain_keeps_its_order(pools: list[dict[str, Any]]) -> None:
    order = placement.growth_order(spec(good(pools=pools)), aks())
    for pool in pools:
        chain = [pool["name"], *(step["pool"] for step in pool.get("fallback", []) if "pool" in step)]
        assert [order.index(name) for name in chain] == sorted(order.index(name) for name in chain)


@given(pool_lists())
def test_names_stay_distinct_and_valid(pools: list[dict[str, Any]]) -> None:
    names = [pool.name for pool in placement.node_pools(spec(good(pools=pools)), aks())]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 12 for name in names)


def test_a_spot_gpu_pool_carries_the_programs_the_users_and_the_clouds_labels_and_taints() -> None:
    wanted = spec(with_pool(labels={"gpu": "true"}, taints=[{"key": "team", "value": "vision"}]))
    (t4,) = (pool for pool in placement.node_pools(wanted, aks()) if pool.name == "t4")
    assert t4.labels == {
        "gpu": "true",
        "kubeflow-spot.dev/accelerator": "nvidia-t4",
        "kubeflow-spot.dev/capacity": "spot",
        "kubeflow-spot.dev/pool": "t4",
        "kubernetes.azure.com/scalesetpriority": "spot",
    }
    assert [str(taint) for taint in t4.taints] == [
        "kubernetes.azure.com/scalesetpriority=spot:NoSchedule",
        "nvidia.com/gpu=present:NoSchedule",
        "team=vision:NoSchedule",
    ]
    assert (t4.min_nodes, t4.max_nodes, t4.gpus) == (0, 8, 1)


def test_a_twin_is_the_same_machine_on_demand_without_the_spot_taint() -> None:
    (twin,) = (pool for pool in placement.node_pools(spec(good()), aks()) if pool.name == "t4od")
    assert (twin.source.name, twin.machine, twin.capacity) == ("t4", "Standard_NC4as_T4_v3", "on-demand")
    assert (twin.min_nodes, twin.max_nodes, twin.spot) == (0, 2, None)
    assert twin.taints == (Taint(key="nvidia.com/gpu", value="present"),)
    assert "kubernetes.azure.com/scalesetpriority" not in twin.labels


def test_a_twin_does_not_take_over_what_the_cloud_adds_to_spot_nodes() -> None:
    repeated = {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot"}
    raw = with_pool(labels={"kubernetes.azure.com/scalesetpriority": "spot"}, taints=[repeated])
    pools = {pool.name: pool for pool in placement.node_pools(spec(raw), aks())}
    assert "kubernetes.azure.com/scalesetpriority" not in pools["t4od"].labels
    assert [str(taint) for taint in pools["t4od"].taints] == ["nvidia.com/gpu=present:NoSchedule"]
    assert len(pools["t4"].taints) == 2


def test_names_that_are_cut_for_a_twin_or_a_generation_stay_distinct_and_legal() -> None:
    raw = good()
    raw["pools"] = [
        {"name": f"abcdefghijk{end}", "machine": SIZES[1], "capacity": "spot", "maxNodes": 1,
         "fallback": [{"onDemand": {"maxNodes": 1}}]}
        for end in "xyz"
    ] + [
        {"name": f"generalpool{end}", "machine": "Standard_D8ds_v5", "maxNodes": 1, "generation": "b"} for end in "xyz"
    ]  # fmt: skip
    names = [pool.name for pool in placement.node_pools(spec(raw), aks())]
    assert len(set(names)) == 9
    assert all(re.fullmatch(aks().pool_name, name) for name in names)


def test_a_generation_changes_the_name_and_nothing_that_users_select_by() -> None:
    raw = good()
    pools = [{"name": "general", "machine": "Standard_D8ds_v5", "maxNodes": 1}]
    (first,) = placement.node_pools(spec({**raw, "pools": pools}), aks())
    (second,) = placement.node_pools(spec({**raw, "pools": [{**pools[0], "generation": "b"}]}), aks())
    assert (first.name, second.name) == ("general", "generalb")
    assert first.labels == second.labels


def test_an_on_demand_pool_without_gpus_keeps_one_node_and_no_taint() -> None:
    general = placement.node_pools(spec(good(pools=[{"name": "g", "machine": SIZES[0], "maxNodes": 3}])), aks())[0]
    assert (general.min_nodes, general.taints, general.gpus) == (1, (), 0)


def test_a_fractional_gpu_counts_as_one_device() -> None:
    pool = {"name": "a10", "machine": "Standard_NV6ads_A10_v5", "maxNodes": 1}
    (a10,) = placement.node_pools(spec(good(pools=[pool])), aks())
    assert a10.gpus == 1


def test_the_example_grows_in_the_order_of_its_chain_then_on_demand() -> None:
    assert placement.growth_order(spec(good()), aks()) == ("t4", "t4big", "t4od", "general")
