"""The contract with users' tools, and the values that the kustomize components in `kubeflow/` read: the lines of each placement."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given

from config.clouds.azure.azure_settings import Azure
from config.clouds.azure.azure_traits import Aks
from config.clouds.existing.existing_traits import ExistingCluster
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.gcp.gcp_traits import Gke
from config.placement import contract
from tests.config.stack import aks, placed_pools
from tests.config.test_placement import pool_lists

T4, D8 = "Standard_NC4as_T4_v3", "Standard_D8ds_v5"
GENERAL = {"name": "general", "machine": D8, "maxNodes": 3}
SWEEP = {"name": "sweep", "machine": D8, "capacity": "spot", "maxNodes": 3}
SPOT = {"name": "t4", "machine": T4, "capacity": "spot", "maxNodes": 8}
WITH_TWIN = {**SPOT, "fallback": [{"onDemand": {"maxNodes": 1}}]}
ON_DEMAND = {"name": "t4own", "machine": T4, "maxNodes": 2}


def published(*pools: dict[str, Any]) -> str:
    placed = placed_pools(aks(*pools))
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
    snippets = contract.snippets(placed_pools(aks(*pools)))
    assert [name for name in snippets if not name.startswith("pool-")] == names


def test_the_lines_of_one_pool() -> None:
    spot = {
        "key": "kubernetes.azure.com/scalesetpriority",
        "operator": "Equal",
        "value": "spot",
        "effect": "NoSchedule",
    }
    gpu = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    snippets = contract.snippets(placed_pools(aks(GENERAL, WITH_TWIN)))
    assert snippets["pool-t4"] == {"tolerations": [spot, gpu], "nodeSelector": {"kubeflow-spot.dev/pool": "t4"}}
    assert snippets["pool-general"] == {"tolerations": [], "nodeSelector": {"kubeflow-spot.dev/pool": "general"}}


def test_a_pool_is_described_by_what_its_nodes_show_and_its_lines_outlive_a_generation() -> None:
    pools = placed_pools(aks({**ON_DEMAND, "generation": "b", "labels": {"team": "vision"}}))
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


@pytest.mark.parametrize("pools", [[GENERAL, WITH_TWIN], [GENERAL, ON_DEMAND]])
def test_the_spawner_offers_the_contracts_lines_for_on_demand_gpus_and_nothing_else(
    pools: list[dict[str, Any]],
) -> None:
    placed = placed_pools(aks(*pools))
    spawner = contract.kubeflow_values(placed, Aks(), None)["spawner"]
    lines = contract.snippets(placed)["gpu-on-demand"]
    (affinity,) = spawner["affinityConfig"]["options"]
    (tolerations,) = spawner["tolerationGroup"]["options"]
    assert (affinity["configKey"], affinity["affinity"]) == ("gpu-on-demand", lines["affinity"])
    assert (tolerations["groupKey"], tolerations["tolerations"]) == ("gpu-on-demand", lines["tolerations"])
    # "In" would be the condition of spot nodes.
    assert "scalesetpriority" not in str(spawner)
    assert "'NotIn', 'values': ['spot']" in str(affinity)


@pytest.mark.parametrize("pools", [[GENERAL], [GENERAL, SPOT]])
def test_a_stack_without_on_demand_gpus_offers_a_notebook_none(pools: list[dict[str, Any]]) -> None:
    # Kustomize stops at an empty list: each field is whole, so that the form's own options are replaced.
    empty = {"readOnly": False, "value": "", "options": []}
    assert contract.kubeflow_values(placed_pools(aks(*pools)), Aks(), None)["spawner"] == {
        "affinityConfig": empty,
        "tolerationGroup": empty,
    }


def test_the_disk_is_the_clouds_and_that_of_an_unknown_cloud_is_left_out() -> None:
    placed = placed_pools(aks(GENERAL))
    assert contract.kubeflow_values(placed, Aks(), None)["disk"]["provisioner"] == "disk.csi.azure.com"
    assert contract.kubeflow_values(placed, Gke(), None)["disk"] == {
        "provisioner": "pd.csi.storage.gke.io",
        "parameters": {"type": "pd-balanced"},
    }
    assert not {"disk", "workspaceDisk"} & contract.kubeflow_values(placed, ExistingCluster(), None).keys()


@pytest.mark.parametrize("place", ["europe-west4", "europe-west4-a"])
def test_a_notebook_on_gke_gets_a_disk_of_one_zone_whatever_the_databases_get(place: str) -> None:
    # A regional disk is larger than the form's 5Gi, and a g2 machine may not take it.
    values = contract.kubeflow_values(
        placed_pools(aks(GENERAL)), Gke(), Gcp(provider="gcp", project="example-ml", location=place)
    )
    assert values["workspaceDisk"] == {"provisioner": "pd.csi.storage.gke.io", "parameters": {"type": "pd-balanced"}}
    assert ("replication-type" in values["disk"]["parameters"]) is (place == "europe-west4")


def test_a_notebook_on_aks_gets_the_disk_that_the_databases_get() -> None:
    for settings in (None, *(Azure(provider="azure", location=location) for location in ("westeurope", "westus"))):
        values = contract.kubeflow_values(placed_pools(aks(GENERAL)), Aks(), settings)
        assert values["workspaceDisk"] == values["disk"]


def test_a_file_of_values_says_whose_they_are() -> None:
    values = contract.kubeflow_values(placed_pools(aks(GENERAL)), Aks(), None, {"stack": "prod", "kubernetes": "1.35"})
    shown = {key: value for key, value in values["metadata"]["annotations"].items() if "kubeflow-spot" in key}
    assert shown == {"kubeflow-spot.dev/stack": "prod", "kubeflow-spot.dev/kubernetes": "1.35"}


def test_kustomize_reads_the_object_and_leaves_it_out_of_what_it_builds() -> None:
    values = contract.kubeflow_values(placed_pools(aks(GENERAL)), Aks(), None)
    assert values["metadata"]["annotations"] == {"config.kubernetes.io/local-config": "true"}
    assert (values["apiVersion"], values["kind"]) == ("kubeflow-spot.dev/v1", "KubeflowValues")
