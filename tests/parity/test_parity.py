"""One stack file, two clouds: what is derived of its pools is the same, and every golden pod lands alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from config import stackfile
from config.clouds import registry
from config.clouds.gcp import compute_class
from config.clouds.traits import Cloud
from config.model.scheduling import Placement
from config.model.spec import ClusterSpec
from config.model.taint import Taint
from config.placement import contract, node_pools, pods
from config.placement.growth import growth_order
from config.placement.node_pools import NodePool
from sandbox.cluster.autoscaler.fit import misfit, tolerates
from tests.admission.corpus import Golden, corpus
from tests.parity.drawn import SORTS, Settings, neutral, on_aks, on_gke

OWN = ("kubernetes.azure.com/", "cloud.google.com/", "nvidia.com/device-plugin.config")
"""Keys of labels and taints that are a cloud's own, or of the device plugin that AKS does not bring."""
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
        spec, problems = stackfile.read(raw)
        assert spec, [str(problem) for problem in problems]
        return cls(spec, registry.of(spec.cloud))

    @cached_property
    def pools(self) -> tuple[NodePool, ...]:
        return node_pools.node_pools(self.spec, self.cloud)

    @cached_property
    def order(self) -> list[NodePool]:
        """First choice first; without the system pool."""
        by_name = {pool.name: pool for pool in self.pools}
        return [by_name[name] for name in growth_order(self.spec, self.cloud) if name in by_name]

    @cached_property
    def lines(self) -> dict[str, dict[str, Any]]:
        """What the contract gives a pod, by name."""
        return contract.snippets(self.pools)


@given(neutral(), MODES)
@drawn
def test_pools_agree_on_everything_that_is_not_the_clouds_own(wanted: Settings, mode: str | None) -> None:
    aks, gke = (Side.of(raw) for raw in (on_aks(wanted), on_gke(wanted, mode)))
    assert [portable(pool) for pool in aks.pools] == [portable(pool) for pool in gke.pools]
    assert growth_order(aks.spec, aks.cloud) == growth_order(gke.spec, gke.cloud)


@given(neutral(), MODES)
@drawn
def test_the_same_pods_tolerate_the_same_pools(wanted: Settings, mode: str | None) -> None:
    aks, gke = (Side.of(raw) for raw in (on_aks(wanted), on_gke(wanted, mode)))
    for gpu in (True, False):
        for one in Placement:
            meant = [[pool.label for pool in pods.usable(side.pools, one, gpu=gpu)] for side in (aks, gke)]
            assert meant[0] == meant[1]
    assert aks.lines.keys() == gke.lines.keys()
    for name, lines in aks.lines.items():
        # Lines for pods with GPUs ask for the class on GKE, which only pools with GPUs are in.
        gpu = name.startswith("gpu-")
        assert reached(lines, aks, gpu) == reached(gke.lines[name], gke, gpu), name


@given(neutral(), MODES)
@drawn
def test_every_golden_pod_lands_in_the_corresponding_pool(wanted: Settings, mode: str | None) -> None:
    aks, gke = (Side.of(raw) for raw in (on_aks(wanted), on_gke(wanted, mode)))
    event(f"compute class: {gke.cloud.pool_class(gke.spec, gke.cloud) is not None}")
    for golden in GOLDENS:
        there = [landings(golden, side) for side in (aks, gke)]
        assert there[0] == there[1], golden.name


def test_the_sorts_are_in_one_order() -> None:
    """Which pool grows first goes by size: pairs that differ in that order on the two clouds would prove nothing."""
    aks, gke = Side.of(on_aks({"pools": []})).cloud, Side.of(on_gke({"pools": []})).cloud
    assert sorted(SORTS, key=lambda sort: size(aks, sort.aks)) == sorted(SORTS, key=lambda sort: size(gke, sort.gke))


def size(cloud: Cloud, machine: str) -> tuple[int, float]:
    found = cloud.machine(machine)
    assert found
    return found.vcpus, found.memory_gib


def portable(pool: NodePool) -> dict[str, Any]:
    """What must not differ between clouds."""
    return {
        "name": pool.name,
        "capacity": pool.capacity,
        "bounds": (pool.min_nodes, pool.max_nodes),
        "gpus": (pool.gpus, pool.gpu_model),
        "labels": {key: value for key, value in pool.labels.items() if not key.startswith(OWN)},
        "taints": sorted(
            {SPOT if taint.key in SPOT_KEYS else str(taint) for taint in pool.taints if not in_class(taint)}
        ),
    }


def in_class(taint: Taint) -> bool:
    return taint.key == compute_class.LABEL


def reached(snippet: Mapping[str, Any], side: Side, gpu: bool) -> set[str]:
    """Labels of the pools that a pod with these lines, and perhaps a GPU, may run on."""
    return {pool.label for pool in side.pools if fits(snippet, pool) and (pool.gpus or not gpu)}


def fits(spec: Mapping[str, Any], pool: NodePool) -> bool:
    return not misfit(spec, "node", pool.labels, [taint.model_dump(mode="json") for taint in pool.taints])


def landings(golden: Golden, side: Side) -> tuple[str, ...]:
    """Labels of the pools the pod may land on, by the order in which they grow."""
    spec = admitted(golden, side)
    containers = [*golden.spec["containers"], *golden.spec.get("initContainers", ())]
    asked = max(int(c.get("resources", {}).get("limits", {}).get("nvidia.com/gpu", 0)) for c in containers)
    return tuple(pool.label for pool in side.order if shares(pool) >= asked and fits(spec, pool))


def shares(pool: NodePool) -> int:
    return pool.gpus * (pool.gpu_sharing.replicas if pool.gpu_sharing else 1)


def admitted(golden: Golden, side: Side) -> dict[str, Any]:
    """The pod as admission leaves it: the lines of the contract where it is moved, and what the cloud itself adds."""
    spec: dict[str, Any] = {key: golden.spec[key] for key in ("nodeSelector", "affinity") if key in golden.spec}
    spec["tolerations"] = [dict(one) for one in golden.spec.get("tolerations", ())]
    spot = next(taint for taint in side.cloud.spot_taints if taint.key in SPOT_KEYS)
    for toleration in spec["tolerations"]:
        if toleration.get("key") in SPOT_KEYS:
            toleration["key"] = spot.key
            if "value" in toleration:
                toleration["value"] = spot.value
    moved = {"preferred": Placement.PREFER_SPOT, "required": Placement.REQUIRE_SPOT}.get(golden.expect.affinity)
    if not moved and golden.expect.kind and golden.gpu:
        moved = Placement.ON_DEMAND  # by its label, or its namespace's
    lines = side.lines.get(f"{'gpu' if golden.gpu else 'cpu'}-{moved}", {})
    spec["tolerations"] += lines.get("tolerations", [])
    if golden.gpu:
        # ExtendedResourceToleration, on both clouds
        spec["tolerations"].append({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"})
        ask_for_the_class(spec, side)
    if golden.expect.affinity == "required":
        spec["nodeSelector"] = {**spec.get("nodeSelector", {}), "kubeflow-spot.dev/capacity": "spot"}
    return spec


def ask_for_the_class(spec: dict[str, Any], side: Side) -> None:
    """As the program's second policy does on GKE."""
    pool_class = side.cloud.pool_class(side.spec, side.cloud)
    name = pool_class.name if pool_class else None
    members = {pool.label for pool in side.pools if pool.selector}
    selector = spec.get("nodeSelector", {})
    if name and selector.get("kubeflow-spot.dev/pool", next(iter(members), "")) in members:
        spec["nodeSelector"] = {**selector, compute_class.LABEL: name}
        spec["tolerations"].append(
            {"key": compute_class.LABEL, "operator": "Equal", "value": name, "effect": "NoSchedule"}
        )


def test_a_class_is_tolerated_by_nobody_else() -> None:
    taint = {"key": compute_class.LABEL, "value": "kubeflow-spot", "effect": "NoSchedule"}
    assert not tolerates({"key": "nvidia.com/gpu", "operator": "Exists"}, taint)
