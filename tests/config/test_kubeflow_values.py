"""The values that the kustomize components in `kubeflow/` read are made from a stack's pools and its cloud."""

from __future__ import annotations

from typing import Any

import pytest

from config.clouds.azure.azure_settings import Azure
from config.clouds.azure.azure_traits import Aks
from config.clouds.existing.existing_traits import ExistingCluster
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.gcp.gcp_traits import Gke
from config.placement import contract
from tests.config.test_contract import GENERAL, ON_DEMAND, SPOT, WITH_TWIN, node_pools


@pytest.mark.parametrize("pools", [[GENERAL, WITH_TWIN], [GENERAL, ON_DEMAND]])
def test_the_spawner_offers_the_contracts_lines_for_on_demand_gpus_and_nothing_else(
    pools: list[dict[str, Any]],
) -> None:
    placed = node_pools(*pools)
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
    assert contract.kubeflow_values(node_pools(*pools), Aks(), None)["spawner"] == {
        "affinityConfig": empty,
        "tolerationGroup": empty,
    }


def test_the_disk_is_the_clouds_and_that_of_an_unknown_cloud_is_left_out() -> None:
    placed = node_pools(GENERAL)
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
        node_pools(GENERAL), Gke(), Gcp(provider="gcp", project="example-ml", location=place)
    )
    assert values["workspaceDisk"] == {"provisioner": "pd.csi.storage.gke.io", "parameters": {"type": "pd-balanced"}}
    assert ("replication-type" in values["disk"]["parameters"]) is (place == "europe-west4")


def test_a_notebook_on_aks_gets_the_disk_that_the_databases_get() -> None:
    for settings in (None, *(Azure(provider="azure", location=location) for location in ("westeurope", "westus"))):
        values = contract.kubeflow_values(node_pools(GENERAL), Aks(), settings)
        assert values["workspaceDisk"] == values["disk"]


def test_a_file_of_values_says_whose_they_are() -> None:
    values = contract.kubeflow_values(node_pools(GENERAL), Aks(), None, {"stack": "prod", "kubernetes": "1.35"})
    shown = {key: value for key, value in values["metadata"]["annotations"].items() if "kubeflow-spot" in key}
    assert shown == {"kubeflow-spot.dev/stack": "prod", "kubeflow-spot.dev/kubernetes": "1.35"}


def test_kustomize_reads_the_object_and_leaves_it_out_of_what_it_builds() -> None:
    values = contract.kubeflow_values(node_pools(GENERAL), Aks(), None)
    assert values["metadata"]["annotations"] == {"config.kubernetes.io/local-config": "true"}
    assert (values["apiVersion"], values["kind"]) == ("kubeflow-spot.dev/v1", "KubeflowValues")
