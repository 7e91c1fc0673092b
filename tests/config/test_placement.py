"""Everything derived from a pool agrees, for any pools in any order."""

from __future__ import annotations

import random
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from config.clouds.azure.azure_traits import Aks
from config.model.pool import Taint
from config.placement import node_pools
from config.placement.node_pools import CAPACITY_LABEL, CRITICAL_ADDONS_TAINT, POOL_LABEL
from tests.config.stack import good, grown, spec, with_pool

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
    first, second = spec(good(pools=pools)), spec(good(pools=shuffled))
    assert node_pools.node_pools(first, Aks()) == node_pools.node_pools(second, Aks())
    assert grown(first) == grown(second)


@given(pool_lists())
def test_every_pool_has_its_own_rank_and_those_without_gpus_stand_before_those_with(
    pools: list[dict[str, Any]],
) -> None:
    wanted = spec(good(pools=pools))
    gpus = {pool.name: pool.gpus for pool in node_pools.node_pools(wanted, Aks())} | {"system": 0}
    order = grown(wanted)
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
    names = [pool.name for pool in node_pools.node_pools(spec(good(pools=pools)), Aks())]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 12 for name in names)


def test_a_spot_gpu_pool_carries_the_programs_the_users_and_the_clouds_labels_and_taints() -> None:
    wanted = spec(with_pool(labels={"gpu": "true"}, taints=[{"key": "team", "value": "vision"}]))
    (t4,) = (pool for pool in node_pools.node_pools(wanted, Aks()) if pool.name == "t4")
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
    (twin,) = (pool for pool in node_pools.node_pools(spec(good()), Aks()) if pool.name == "t4od")
    assert (twin.source.name, twin.machine, twin.capacity) == ("t4", "Standard_NC4as_T4_v3", "on-demand")
    assert (twin.min_nodes, twin.max_nodes, twin.spot) == (0, 2, False)
    assert twin.taints == (Taint(key="nvidia.com/gpu", value="present"),)
    assert "kubernetes.azure.com/scalesetpriority" not in twin.labels


def test_a_twin_gets_none_of_the_labels_and_taints_that_the_cloud_adds_to_spot_nodes() -> None:
    repeated = {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot"}
    raw = with_pool(labels={"kubernetes.azure.com/scalesetpriority": "spot"}, taints=[repeated])
    pools = {pool.name: pool for pool in node_pools.node_pools(spec(raw), Aks())}
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
    names = [pool.name for pool in node_pools.node_pools(spec(raw), Aks())]
    assert len(set(names)) == 9
    assert all(re.fullmatch(Aks().pool_name, name) for name in names)


def test_a_generation_changes_the_name_and_nothing_that_users_select_by() -> None:
    raw = good()
    pools = [{"name": "general", "machine": "Standard_D8ds_v5", "maxNodes": 1}]
    (first,) = node_pools.node_pools(spec({**raw, "pools": pools}), Aks())
    (second,) = node_pools.node_pools(spec({**raw, "pools": [{**pools[0], "generation": "b"}]}), Aks())
    assert (first.name, second.name) == ("general", "generalb")
    assert first.labels == second.labels


def test_an_on_demand_pool_without_gpus_keeps_one_node_and_no_taint() -> None:
    general = node_pools.node_pools(spec(good(pools=[{"name": "g", "machine": SIZES[0], "maxNodes": 3}])), Aks())[0]
    assert (general.min_nodes, general.taints, general.gpus) == (1, (), 0)


def test_a_fractional_gpu_counts_as_one_device() -> None:
    pool = {"name": "a10", "machine": "Standard_NV6ads_A10_v5", "maxNodes": 1}
    (a10,) = node_pools.node_pools(spec(good(pools=[pool])), Aks())
    assert a10.gpus == 1


def test_the_example_grows_without_gpus_first_then_in_the_order_of_its_chain() -> None:
    assert grown(spec(good())) == ("general", "system", "t4", "t4od", "t4big")


SPOT_T4, SPOT_T4_BIG, SPOT_A100 = (
    {"name": name, "machine": machine, "capacity": "spot", "maxNodes": 4, "fallback": [{"onDemand": {"maxNodes": 2}}]}
    for name, machine in (("t4", SIZES[1]), ("t4big", SIZES[2]), ("a100", SIZES[3]))
)
RESERVED = {
    "name": "kept",
    "machine": SIZES[1],
    "maxNodes": 1,
    "reservation": "/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/ml/providers/Microsoft.Compute"
    "/capacityReservationGroups/gpus",
}
NOTEBOOKS = {"name": "nb", "machine": SIZES[1], "maxNodes": 4}


def order(*pools: dict[str, Any], growth: tuple[str, ...] = ()) -> list[str]:
    """The order of the pools with GPUs; the system pool stands before them."""
    names = grown(spec(good(pools=list(pools), growth={"order": list(growth)})))
    assert names[0] == "system"
    return list(names[1:])


def test_a_chain_is_tried_whole_before_a_larger_machine() -> None:
    assert order(SPOT_A100, SPOT_T4) == ["t4", "t4od", "a100", "a100od"]
    across = {**SPOT_T4, "fallback": [{"pool": "a100"}, {"onDemand": {"maxNodes": 2}}]}
    # An A100 on spot costs more than a T4 on demand.
    assert order(SPOT_A100, across) == ["t4", "t4od", "a100", "a100od"]
    # A pool in two chains comes after the pools that both have before it.
    shared = [{**pool, "fallback": [{"pool": "a100"}, *pool["fallback"]]} for pool in (SPOT_T4, SPOT_T4_BIG)]
    assert order(SPOT_A100, *shared) == ["t4", "t4od", "t4big", "t4bigod", "a100", "a100od"]


def test_an_on_demand_pool_of_no_chain_stands_before_the_first_larger_twin() -> None:
    """Pods that tolerate no spot get the smaller machine, and those that do get every spot pool that is no dearer first."""
    assert order(SPOT_A100, SPOT_T4, NOTEBOOKS) == ["t4", "t4od", "a100", "nb", "a100od"]
    assert order(SPOT_T4_BIG, NOTEBOOKS) == ["t4big", "nb", "t4bigod"]
    assert order(NOTEBOOKS, {**SPOT_A100, "fallback": []}) == ["a100", "nb"]


def test_a_reserved_pool_stands_where_its_chain_or_the_stack_file_says() -> None:
    through = {**SPOT_T4, "fallback": [{"pool": "kept"}, *SPOT_T4["fallback"]]}
    assert order(RESERVED, through) == ["t4", "kept", "t4od"]
    # Its machine is smaller than that of the chain, which keeps its order all the same.
    larger = {**SPOT_T4_BIG, "fallback": [{"pool": "kept"}, *SPOT_T4_BIG["fallback"]]}
    assert order(RESERVED, larger) == ["t4big", "kept", "t4bigod"]
    # Outside of a chain it is an on-demand pool: paid for in any case, and used first where the stack file says so.
    assert order(RESERVED, SPOT_A100) == ["a100", "kept", "a100od"]
    assert order(RESERVED, SPOT_A100, growth=("kept", "a100")) == ["kept", "a100", "a100od"]


def test_the_stack_file_decides_the_order_of_chains_and_single_pools() -> None:
    all_of_them = (SPOT_A100, SPOT_T4, SPOT_T4_BIG, NOTEBOOKS)
    usual = ["t4", "t4od", "t4big", "nb", "t4bigod", "a100", "a100od"]
    assert order(*all_of_them) == usual
    assert order(*all_of_them, growth=("a100",)) == [
        "a100",
        "nb",
        "a100od",
        *(n for n in usual if n not in "a100od nb"),
    ]
    assert order(*all_of_them, growth=("t4", "nb", "a100")) == [
        "t4",
        "t4od",
        "nb",
        "a100",
        "a100od",
        "t4big",
        "t4bigod",
    ]


def test_pools_without_gpus_grow_spot_first_and_the_system_pool_last() -> None:
    batch = {"name": "batch", "machine": SIZES[0], "capacity": "spot", "maxNodes": 4}
    general = {"name": "general", "machine": SIZES[0], "maxNodes": 4}
    names = grown(spec(good(pools=[SPOT_T4, general, batch])))
    assert names == ("batch", "general", "system", "t4", "t4od")


def test_the_system_pool_is_an_on_demand_node_pool_with_a_role() -> None:
    raw = good()
    raw["systemPool"] |= {"machine": "standard_d4DS_v5", "zones": ["3", "1"], "criticalAddonsOnly": True}
    stack = spec(raw)
    assert stack.system_pool
    placed = node_pools.system_pool(stack.system_pool, Aks())
    assert (placed.role, placed.name, placed.machine, placed.zones) == (
        "system", "system", "Standard_D4ds_v5", ("1", "3"),
    )  # fmt: skip
    assert placed.labels == {CAPACITY_LABEL: "on-demand", POOL_LABEL: "system"}
    assert placed.taints == (CRITICAL_ADDONS_TAINT,)
    assert {pool.role for pool in node_pools.node_pools(stack, Aks())} == {"user"}
