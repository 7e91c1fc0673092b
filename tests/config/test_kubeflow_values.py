"""The values that the kustomize components in `kubeflow/` read are made from a stack's pools and its cloud."""

from __future__ import annotations

from typing import Any

import pytest

from config.clouds.azure.traits import aks
from config.clouds.existing.traits import existing
from config.clouds.gcp.traits import gke
from config.placement import contract, kubeflow
from tests.config.test_contract import GENERAL, ON_DEMAND, SPOT, WITH_TWIN, node_pools


@pytest.mark.parametrize("pools", [[GENERAL, WITH_TWIN], [GENERAL, ON_DEMAND]])
def test_the_spawner_offers_the_contracts_lines_for_on_demand_gpus_and_nothing_else(
    pools: list[dict[str, Any]],
) -> None:
    placed = node_pools(*pools)
    spawner = kubeflow.values(placed, aks(), None)["spawner"]
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
    assert kubeflow.values(node_pools(*pools), aks(), None)["spawner"] == {
        "affinityConfig": empty,
        "tolerationGroup": empty,
    }


def test_the_disk_is_the_clouds_and_that_of_an_unknown_cloud_is_left_out() -> None:
    placed = node_pools(GENERAL)
    assert kubeflow.values(placed, aks(), None)["disk"]["provisioner"] == "disk.csi.azure.com"
    assert kubeflow.values(placed, gke(), None)["disk"] == {
        "provisioner": "pd.csi.storage.gke.io",
        "parameters": {"type": "pd-balanced"},
    }
    assert "disk" not in kubeflow.values(placed, existing(), None)


def test_kustomize_reads_the_object_and_leaves_it_out_of_what_it_builds() -> None:
    values = kubeflow.values(node_pools(GENERAL), aks(), None)
    assert values["metadata"]["annotations"] == {"config.kubernetes.io/local-config": "true"}
    assert (values["apiVersion"], values["kind"]) == ("kubeflow-spot.dev/v1", "KubeflowValues")
