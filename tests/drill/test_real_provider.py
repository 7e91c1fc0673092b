"""The pools of a stack, rendered for the real cluster-autoscaler's provider."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from drill.play.real_autoscaler import flags
from drill.play.real_provider import config_maps, first_nodes, refusal_policy
from sandbox.tests.autoscaler.objects import MACHINE, on_demand
from sandbox.tests.autoscaler.objects import spot as spot_group
from sandbox.tests.azure.conftest import CLUSTER_ID, POOL, SPOT, Account

SPOT_GROUP, OD_GROUP = "aks-gpuspot-12345678-vmss", "aks-gpuod-12345678-vmss"
GROUPS = [spot_group(10), on_demand(4)]


def rendered(*groups: Any) -> list[Any]:
    _, templates = config_maps(groups)
    return list(json.loads(templates["data"]["templates"])["items"])


def test_the_provider_reads_its_groups_by_annotation_and_adds_no_taint() -> None:
    settings, templates = config_maps(GROUPS)
    read = json.loads(settings["data"]["config"])
    assert read["nodegroups"] == {"fromNodeAnnotationKey": "cluster-autoscaler.kwok.nodegroup/name"}
    assert read["nodes"]["skipTaint"] is True
    assert read["configmap"]["name"] == templates["metadata"]["name"] == "kwok-provider-templates"
    assert {body["metadata"]["namespace"] for body in (settings, templates)} == {"kube-system"}


def test_a_group_is_rendered_with_its_bounds_labels_taints_and_size() -> None:
    known = spot_group(10)
    labels = {**known.template["metadata"]["labels"], "kubernetes.io/hostname": f"{SPOT_GROUP}000000"}
    status = {**known.template["status"], "conditions": [{"type": "DiskPressure", "status": "False"}]}
    template = {**known.template, "metadata": {"labels": labels}, "status": status}
    template["spec"] = {**template["spec"], "providerID": "azure:///subscriptions/s"}
    (node,) = rendered(replace(known, least=2, template=template))
    annotations = node["metadata"]["annotations"]
    assert {key.rpartition("/")[2]: value for key, value in annotations.items()} == {
        "name": SPOT_GROUP,
        "min-count": "2",
        "max-count": "10",
        "desired-count": "2",
    }
    assert node["metadata"]["labels"] == known.template["metadata"]["labels"], "every node would have the same hostname"
    assert node["spec"] == known.template["spec"], "the provider's own id goes there"
    assert node["status"]["allocatable"] == MACHINE
    states = {condition["type"]: condition["status"] for condition in node["status"]["conditions"]}
    assert states == {"DiskPressure": "False", "Ready": "False"}


def test_a_pool_that_is_not_autoscaled_is_not_rendered() -> None:
    assert [
        node["metadata"]["name"] for node in rendered(replace(spot_group(1), least=None, most=None), on_demand(4))
    ] == [OD_GROUP]


def test_nodes_of_the_beginning_are_the_provider_s_own() -> None:
    first, second = first_nodes(replace(spot_group(10), nodes=("aks-a000000", "aks-a000001")))
    assert second["metadata"]["name"] == "aks-a000001"
    assert second["metadata"]["labels"]["kubernetes.io/hostname"] == "aks-a000001"
    assert second["spec"]["providerID"] == "kwok:aks-a000001"
    annotations = {"cluster-autoscaler.kwok.nodegroup/name": SPOT_GROUP, "kwok.x-k8s.io/node": "fake"}
    assert first["metadata"]["annotations"] == annotations
    assert first["spec"]["taints"] == spot_group(1).template["spec"]["taints"]


def test_each_group_is_refused_with_its_own_text() -> None:
    policy, binding = refusal_policy({SPOT_GROUP: "SkuNotAvailable", OD_GROUP: "QuotaExceeded"})
    texts = {rule["message"]: rule["expression"] for rule in policy["spec"]["validations"]}
    assert texts.keys() == {"SkuNotAvailable", "QuotaExceeded"}
    assert texts["SkuNotAvailable"].endswith(f'!= "{SPOT_GROUP}"')
    assert binding["spec"] == {"policyName": policy["metadata"]["name"], "validationActions": ["Deny"]}
    assert refusal_policy({}) == []


def test_the_emulated_cloud_s_own_pools_are_rendered(tmp_path: Path) -> None:
    account = Account(tmp_path / "azure.json")
    account.group()
    account.cluster()
    account.create(POOL, {**SPOT, "count": 1, "nodeTaints": ["nvidia.com/gpu=present:NoSchedule"]})
    fleet = account.cloud.node_groups(CLUSTER_ID)
    system, spot = fleet.groups
    (node,) = rendered(system, spot)
    assert (
        node["metadata"]["name"]
        == spot.name
        == node["metadata"]["annotations"]["cluster-autoscaler.kwok.nodegroup/name"]
    )
    settings = json.loads(config_maps([])[0]["data"]["config"])["nodes"]["gpuConfig"]
    assert node["metadata"]["labels"][settings["gpuLabelKey"]] in settings["availableGPUTypes"]
    assert {taint["key"] for taint in node["spec"]["taints"]} >= {"nvidia.com/gpu"}
    assert node["status"]["capacity"]["nvidia.com/gpu"] == "1"
    assert [first["metadata"]["name"] for first in first_nodes(spot)] == list(spot.nodes) != []
    assert "--expander=random" in flags(fleet.profile)
