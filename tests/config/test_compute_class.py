"""The ComputeClass of a GKE stack: its conditions and its pools; twins and bounds of zones on GKE."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.clouds.gcp import gcp_traits
from config.clouds.gcp.gcp_traits import Gke
from config.model.pool import Capacity
from config.model.spec import ClusterSpec
from tests.config.stack import on_gke, placed, placed_pools, spec
from tests.config.test_placement import NAMES

L4, BIG, N2, N1 = "g2-standard-8", "a2-highgpu-1g", "n2-standard-8", "n1-standard-8"
few = settings(max_examples=50)
CHAIN = {"name": "l4", "machine": L4, "capacity": "spot", "maxNodes": 8, "fallback": [{"onDemand": {"maxNodes": 2}}]}


@st.composite
def pool_lists(draw: st.DrawFn) -> list[dict[str, Any]]:
    names = draw(st.lists(NAMES, min_size=1, max_size=7, unique=True))
    names = [name for name in names if not any(name == other + "od" for other in names)]
    pools: list[dict[str, Any]] = []
    for name in names:
        machine = draw(st.sampled_from([L4, BIG, N2, N1]))
        pool: dict[str, Any] = {"name": name, "machine": machine}
        pool["capacity"] = draw(st.sampled_from(["spot", "preemptible", "flex-start", "on-demand"]))
        if machine == N1:
            pool |= {"gpus": 2, "gpuModel": "nvidia-tesla-v100"}
        if draw(st.booleans()):
            pool["maxNodes"] = draw(st.integers(1, 20))
        else:
            least = draw(st.none() | st.integers(0, 2))
            pool["gcp"] = {"minNodesPerZone": least, "maxNodesPerZone": draw(st.integers(2, 5))}
        if draw(st.booleans()):
            pool["zones"] = [f"europe-west4-{letter}" for letter in draw(st.sets(st.sampled_from("abc"), min_size=1))]
        if pool["capacity"] != "on-demand" and draw(st.booleans()):
            gpu = machine != N2
            earlier = [p["name"] for p in pools if p["capacity"] != "on-demand" and (p["machine"] != N2) == gpu]
            steps: list[dict[str, Any]] = [{"pool": draw(st.sampled_from(earlier))}] if earlier else []
            pool["fallback"] = [*steps, {"onDemand": {"maxNodes": draw(st.integers(1, 3))}}]
        pools.append(pool)
    return pools


def class_name(spec: ClusterSpec) -> str | None:
    """Return the name of a stack's ComputeClass."""
    pool_class = Gke().pool_class(spec)
    return pool_class.name if pool_class else None


@few
@given(pool_lists(), st.sampled_from([None, "affinity", "compute-class"]))
def test_either_all_gpu_pools_are_in_the_class_or_none_and_never_another_pool(
    pools: list[dict[str, Any]], mode: str | None
) -> None:
    raw = on_gke(pools, fallback={"mode": mode} if mode else {})
    name = class_name(spec(raw))
    for pool in placed_pools(raw):
        wanted = name if pool.gpus else None
        taints = {taint.value for taint in pool.taints if taint.key == gcp_traits.COMPUTE_CLASS_LABEL}
        assert (
            pool.selector.get(gcp_traits.COMPUTE_CLASS_LABEL)
            == pool.labels.get(gcp_traits.COMPUTE_CLASS_LABEL)
            == wanted
        )
        assert taints == ({wanted} if wanted else set())


@few
@given(pool_lists())
def test_a_twin_is_the_same_machine_without_labels_and_taints_of_spot(pools: list[dict[str, Any]]) -> None:
    by_name = placed(on_gke(pools))
    for twin in (pool for pool in by_name.values() if pool.twin):
        source = by_name[twin.source.name]
        assert (twin.machine, twin.gpus, twin.gpu_model) == (source.machine, source.gpus, source.gpu_model)
        assert (twin.capacity, twin.preemptible, twin.spot, twin.min_nodes) == (Capacity.ON_DEMAND, False, False, 0)
        assert set(source.taints) - set(twin.taints) == set(Gke().added[source.source.capacity].taints)
        assert not {f"cloud.google.com/gke-{way}" for way in ("spot", "preemptible", "flex-start")} & twin.labels.keys()


@few
@given(pool_lists())
def test_bounds_of_a_zone_count_for_each_zone(pools: list[dict[str, Any]]) -> None:
    by_name = placed(on_gke(pools))
    for pool in pools:
        zones = len(pool.get("zones", [])) or 3
        bounds = pool.get("gcp", {})
        most = bounds["maxNodesPerZone"] * zones if bounds else pool["maxNodes"]
        assert by_name[pool["name"]].max_nodes == most
        if bounds:
            default = 0 if pool["machine"] != N2 or pool["capacity"] != "on-demand" else 1
            least = default if bounds["minNodesPerZone"] is None else bounds["minNodesPerZone"]
            assert by_name[pool["name"]].min_nodes == least * zones


CPU_CHAIN, NO_CHAIN = {**CHAIN, "machine": N2}, {**CHAIN, "fallback": []}
EXISTING = {"existingCluster": {"location": "europe-west4", "name": "shared"}}
CLASS = {"fallback": {"mode": "compute-class"}}

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], str | None]] = {
    "a-chain": (CHAIN, {}, {}, "kubeflow-spot"),
    "own-name": (CHAIN, {"fallback": {"className": "training"}}, {}, "training"),
    "affinity": (CHAIN, {"fallback": {"mode": "affinity"}}, {}, None),
    "nothing-to-order": (NO_CHAIN, {}, {}, None),
    "no-gpus-to-order": (CPU_CHAIN, {}, {}, None),
    "nothing-to-order-but-wanted": (NO_CHAIN, CLASS, {}, "kubeflow-spot"),
    # Pods do not ask for the class by themselves.
    "older": (CHAIN, {}, {"release": "r2026-09"}, None),
    "no-policies": (CHAIN, {}, {"scheduling": {"enabled": False}}, None),
    "older-but-wanted": (CHAIN, CLASS, {"release": "r2026-09"}, "kubeflow-spot"),
    # GPU pods of an existing cluster may be meant for other pools.
    "theirs": (CHAIN, EXISTING, {}, None),
    "theirs-but-wanted": (CHAIN, EXISTING | CLASS, {}, "kubeflow-spot"),
}


@pytest.mark.parametrize(("pool", "cloud", "top", "name"), CASES.values(), ids=CASES)
def test_conditions_of_a_compute_class(
    pool: dict[str, Any], cloud: dict[str, Any], top: dict[str, Any], name: str | None
) -> None:
    raw = on_gke([pool], **cloud) | top
    if "existingCluster" in cloud:
        del raw["cluster"], raw["systemPool"], raw["cloud"]["location"]
    assert class_name(spec(raw)) == name


def test_a_pool_that_pods_name_themselves_stays_out() -> None:
    pools = [CHAIN, {"name": "demo", "machine": L4, "maxNodes": 1, "gcp": {"computeClass": False}}]
    selected = {pool.name: pool.selector.get(gcp_traits.COMPUTE_CLASS_LABEL) for pool in placed_pools(on_gke(pools))}
    assert selected == {"demo": None, "l4": "kubeflow-spot", "l4od": "kubeflow-spot"}
