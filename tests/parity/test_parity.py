"""One stack file on two clouds: the same pools are derived, and every golden pod lands in the corresponding pool.

The largest requests that the program names for a pool fit the emulated clouds' nodes, with node agents on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from config.clouds import registry
from config.clouds.azure.azure_traits import Aks
from config.clouds.gcp import gcp_traits
from config.clouds.gcp.gcp_traits import Gke
from config.clouds.traits import Cloud
from config.model.scheduling import Placement
from config.model.spec import ClusterSpec
from config.placement import contract, node_pools, pods
from config.placement.growth_order import growth_order
from config.placement.node_pools import NodePool
from config.stack_file import loader
from sandbox.autoscaler.fit import misfit
from sandbox.autoscaler.resources import quantity
from sandbox.tests.azure.conftest import POOL, REGULAR, Account
from sandbox.tests.gcp.test_nodes import node_of
from sandbox.tests.gcp.test_nodes import pool as gke_pool
from tests.admission.corpus import Golden, corpus
from tests.config import stack
from tests.parity.drawn import SORTS, Settings, neutral, on_aks, on_gke

OWN = ("kubernetes.azure.com/", "cloud.google.com/", "nvidia.com/device-plugin.config")
"""Keys of labels and taints of a cloud, or of the device plugin, which AKS does not install."""
SPOT = "spot"
SPOT_KEYS = {"kubernetes.azure.com/scalesetpriority", "cloud.google.com/gke-spot"}
GOLDENS = [golden for golden in corpus().values() if not golden.expect.refused]
MODES = st.sampled_from([None, "affinity", "compute-class"])
drawn = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@dataclass
class Side:
    """A stack on one cloud."""

    spec: ClusterSpec
    cloud: Cloud

    @classmethod
    def of(cls, raw: Settings) -> Side:
        spec, problems = loader.read_stack(raw)
        assert spec, [str(problem) for problem in problems]
        return cls(spec, registry.cloud_of(spec.cloud))

    @cached_property
    def pools(self) -> tuple[NodePool, ...]:
        return node_pools.node_pools(self.spec, self.cloud)

    @cached_property
    def order(self) -> list[NodePool]:
        """Pools in order of choice, without the system pool."""
        by_name = {pool.name: pool for pool in self.pools}
        return [by_name[name] for name in growth_order(self.spec, self.pools, self.cloud) if name in by_name]

    @cached_property
    def lines(self) -> dict[str, dict[str, Any]]:
        """The lines that the contract has for pods, by name."""
        return contract.snippets(self.pools)


@given(neutral(), MODES)
@drawn
def test_pools_are_equal_except_for_facts_of_one_cloud(wanted: Settings, mode: str | None) -> None:
    aks, gke = (Side.of(raw) for raw in (on_aks(wanted), on_gke(wanted, mode)))
    assert [portable(pool) for pool in aks.pools] == [portable(pool) for pool in gke.pools]
    assert growth_order(aks.spec, aks.pools, aks.cloud) == growth_order(gke.spec, gke.pools, gke.cloud)


@given(neutral(), MODES)
@drawn
def test_the_same_pods_tolerate_the_same_pools(wanted: Settings, mode: str | None) -> None:
    aks, gke = (Side.of(raw) for raw in (on_aks(wanted), on_gke(wanted, mode)))
    for gpu in (True, False):
        for placement in Placement:
            meant = [[pool.label for pool in pods.usable(side.pools, placement, gpu=gpu)] for side in (aks, gke)]
            assert meant[0] == meant[1]
    assert aks.lines.keys() == gke.lines.keys()
    for name, lines in aks.lines.items():
        # Lines for pods with GPUs ask for the class on GKE, which contains only pools with GPUs.
        gpu = name.startswith("gpu-")
        assert reached(lines, aks, gpu) == reached(gke.lines[name], gke, gpu), name


@given(neutral(), MODES)
@drawn
def test_every_golden_pod_lands_in_the_corresponding_pool(wanted: Settings, mode: str | None) -> None:
    aks, gke = (Side.of(raw) for raw in (on_aks(wanted), on_gke(wanted, mode)))
    event(f"compute class: {gke.cloud.pool_class(gke.spec) is not None}")
    for golden in GOLDENS:
        landed = [landings(golden, side) for side in (aks, gke)]
        assert landed[0] == landed[1], golden.name


def test_the_sorts_are_in_one_order() -> None:
    """The smaller pool grows first: pairs in another order on the two clouds would prove nothing."""
    aks, gke = Side.of(on_aks({"pools": []})).cloud, Side.of(on_gke({"pools": []})).cloud
    assert sorted(SORTS, key=lambda sort: size(aks, sort.aks)) == sorted(SORTS, key=lambda sort: size(gke, sort.gke))


def size(cloud: Cloud, machine: str) -> tuple[int, float]:
    offer = cloud.machine(machine)
    assert offer
    return offer.vcpus, offer.memory_gib


def portable(pool: NodePool) -> dict[str, Any]:
    """Return the facts of a pool that must be equal on both clouds."""
    taints = [taint for taint in pool.taints if taint.key != gcp_traits.COMPUTE_CLASS_LABEL]
    return {
        "name": pool.name,
        "capacity": pool.capacity,
        "bounds": (pool.min_nodes, pool.max_nodes),
        "gpus": (pool.gpus, pool.gpu_model),
        "labels": {key: value for key, value in pool.labels.items() if not key.startswith(OWN)},
        "taints": sorted({SPOT if taint.key in SPOT_KEYS else str(taint) for taint in taints}),
    }


def reached(snippet: Mapping[str, Any], side: Side, gpu: bool) -> set[str]:
    """Return the labels of the pools on which a pod with these lines, and perhaps a GPU, may run."""
    return {pool.label for pool in side.pools if fits(snippet, pool) and (pool.gpus or not gpu)}


def fits(spec: Mapping[str, Any], pool: NodePool) -> bool:
    return not misfit(spec, "node", pool.labels, [taint.model_dump(mode="json") for taint in pool.taints])


def landings(golden: Golden, side: Side) -> tuple[str, ...]:
    """Return the labels of the pools for the pod, in the order in which they grow."""
    spec = admitted(golden, side)
    containers = [*golden.spec["containers"], *golden.spec.get("initContainers", ())]
    gpus = max(int(c.get("resources", {}).get("limits", {}).get("nvidia.com/gpu", 0)) for c in containers)
    return tuple(pool.label for pool in side.order if shares(pool) >= gpus and fits(spec, pool))


def shares(pool: NodePool) -> int:
    return pool.gpus * (pool.gpu_sharing.replicas if pool.gpu_sharing else 1)


def admitted(golden: Golden, side: Side) -> dict[str, Any]:
    """Return the pod after admission: with the lines of the contract where it is moved, and the additions of the cloud."""
    spec: dict[str, Any] = {key: golden.spec[key] for key in ("nodeSelector", "affinity") if key in golden.spec}
    spec["tolerations"] = [dict(toleration) for toleration in golden.spec.get("tolerations", ())]
    spot = next(taint for taint in side.cloud.spot_taints if taint.key in SPOT_KEYS)
    for toleration in spec["tolerations"]:
        if toleration.get("key") in SPOT_KEYS:
            toleration["key"] = spot.key
            if "value" in toleration:
                toleration["value"] = spot.value
    moved = {"preferred": Placement.PREFER_SPOT, "required": Placement.REQUIRE_SPOT}.get(golden.expect.affinity)
    if not moved and golden.expect.kind and golden.gpu:
        moved = Placement.ON_DEMAND  # By its label, or that of its namespace.
    lines = side.lines.get(f"{'gpu' if golden.gpu else 'cpu'}-{moved}", {})
    spec["tolerations"] += lines.get("tolerations", [])
    if golden.gpu:
        # ExtendedResourceToleration, on both clouds.
        spec["tolerations"].append({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"})
        ask_for_the_class(spec, side)
    if golden.expect.affinity == "required":
        spec["nodeSelector"] = {**spec.get("nodeSelector", {}), "kubeflow-spot.dev/capacity": "spot"}
    return spec


def ask_for_the_class(spec: dict[str, Any], side: Side) -> None:
    """Change the pod as the program's second policy on GKE does."""
    pool_class = side.cloud.pool_class(side.spec)
    name = pool_class.name if pool_class else None
    members = {pool.label for pool in side.pools if pool.selector}
    selector = spec.get("nodeSelector", {})
    if name and selector.get("kubeflow-spot.dev/pool", next(iter(members), "")) in members:
        spec["nodeSelector"] = {**selector, gcp_traits.COMPUTE_CLASS_LABEL: name}
        spec["tolerations"].append(
            {"key": gcp_traits.COMPUTE_CLASS_LABEL, "operator": "Equal", "value": name, "effect": "NoSchedule"}
        )


def assert_fits(pool: NodePool, allocatable: dict[str, Any]) -> None:
    for resource, agents in (("cpu", "400m"), ("memory", "900Mi")):
        room = quantity(allocatable[resource]) - quantity(agents)
        assert room * 7 / 10 < quantity(pool.largest_request[resource]) <= room


@pytest.mark.parametrize(
    "size", ["Standard_D4ds_v5", "Standard_NC4as_T4_v3", "Standard_NC24ads_A100_v4", "Standard_ND96asr_v4"]
)
@pytest.mark.parametrize("pods", [None, 30])
def test_the_largest_requests_fit_on_aks(tmp_path: Path, size: str, pods: int | None) -> None:
    account = Account(tmp_path / "azure.json")
    account.group()
    account.cluster()
    account.create(POOL, {**REGULAR, "vmSize": size, "count": 1, **({"maxPods": pods} if pods else {})})
    node = next(iter(account.runtime.nodes.values()))[-1]
    wanted = stack.good(pools=[{"name": "p", "machine": size, "maxNodes": 1, "maxPods": pods}])
    (pool,) = node_pools.node_pools(stack.spec(wanted), Aks())
    assert_fits(pool, node["status"]["allocatable"])


@pytest.mark.parametrize("size", ["n2-standard-4", "g2-standard-8", "a2-highgpu-1g", "a3-highgpu-8g"])
def test_the_largest_requests_fit_on_gke(size: str) -> None:
    wanted = stack.on_gke([{"name": "p", "machine": size, "capacity": "spot", "maxNodes": 1}])
    (pool,) = (made for made in node_pools.node_pools(stack.spec(wanted), Gke()) if made.name == "p")
    assert_fits(pool, node_of(gke_pool(size))["status"]["allocatable"])
