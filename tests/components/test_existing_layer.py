"""The layer in an existing cluster: what it leaves to plugins and ConfigMaps of other owners."""

from __future__ import annotations

import base64
import json
from typing import Any

import pulumi
import pytest

from components.layer import names
from tests.components.emulated import EmulatedAzure
from tests.components.features import AKS, SPOTPOOL, Run, with_
from tests.components.program import declare
from tests.components.test_azure_existing_cluster import PROVIDER

pytestmark = pytest.mark.program


DAEMON_SET = "kubernetes:apps/v1:DaemonSet"

CONFIG_MAP = "kubernetes:core/v1:ConfigMap"

SECRET = "kubernetes:core/v1:Secret"

PLUGIN: dict[str, Any] = {
    "metadata": {"name": "nvidia-device-plugin-daemonset", "namespace": "kube-system"},
    "spec": {
        "template": {
            "spec": {
                "containers": [{"image": "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"}],
                "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
            }
        }
    },
}


def test_objects_inside_carry_the_stack_and_the_plugin_selects_its_pools_alone(run: Run) -> None:
    declared = run(AKS)
    (plugin,) = declared.of(DAEMON_SET).values()
    (expander,) = declared.of(CONFIG_MAP, "-expander").values()
    assert plugin.inputs["metadata"]["name"] == "kubeflow-spot-test-device-plugin"
    for resource in (plugin, expander):
        assert names.labels("test").items() <= resource.inputs["metadata"]["labels"].items()
    spec = plugin.inputs["spec"]
    assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    assert spec["selector"]["matchLabels"]["app.kubernetes.io/instance"] == "test"
    affinity = spec["template"]["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (term,) = affinity["nodeSelectorTerms"]
    assert term["matchExpressions"] == [
        {"key": "kubeflow-spot.dev/pool", "operator": "In", "values": ["spotpool", "spotpoolod"]}
    ]


def test_an_existing_plugins_pools_are_left_to_it_with_a_warning(
    run: Run, contents: dict[str, Any], warnings: list[str]
) -> None:
    contents["daemon_sets"] = (PLUGIN,)
    declared = run(AKS)
    plugin = {"namespace": "kube-system", "name": "nvidia-device-plugin-daemonset"}
    assert declared.outputs["devicePlugin"] == {"pools": ["spotpool"], "leftTo": [{**plugin, "pools": ["spotpoolod"]}]}
    assert ["kube-system/nvidia-device-plugin-daemonset" in text and "spotpoolod" in text for text in warnings] == [
        True
    ]
    (daemon_set,) = declared.of(DAEMON_SET).values()
    assert json.dumps(daemon_set.inputs["spec"]["template"]).count("spotpoolod") == 0


def test_a_plugin_for_one_of_aks_own_labels_leaves_other_pools_alone(run: Run, contents: dict[str, Any]) -> None:
    pod = {**PLUGIN["spec"]["template"]["spec"], "nodeSelector": {"agentpool": "a100"}}
    contents["daemon_sets"] = ({**PLUGIN, "spec": {"template": {"spec": pod}}},)
    assert run(AKS).outputs["devicePlugin"]["leftTo"] == []


def test_where_the_expander_is_another_no_map_is_declared_and_the_output_has_the_command(run: Run) -> None:
    declared = run(AKS, autoScalerProfile={"expander": "least-waste"})
    assert declared.of(CONFIG_MAP, "-expander") == {}
    assert declared.outputs["expander"] == []
    assert declared.outputs["fallbackOrder"] == (
        "not guaranteed: the cluster's expander is least-waste; az aks update --resource-group charmed"
        " --name charmed-kubeflow --cluster-autoscaler-profile expander=priority   makes it so"
    )


def test_a_cluster_without_a_profile_chooses_at_random(run: Run) -> None:
    assert "expander is random" in run(AKS, autoScalerProfile={}).outputs["fallbackOrder"]


def test_another_owners_map_is_refused_and_taken_over_by_force_when_asked(
    run: Run, contents: dict[str, Any], emulated: EmulatedAzure
) -> None:
    contents["expander"] = {"metadata": {}, "data": {"priorities": "50: [agentpool]\n1: ['.*']"}}
    with pytest.raises(pulumi.RunError, match="belongs to another owner"):
        run(AKS)
    declared = declare(with_(AKS, expander={"takeOwnership": True}), cloud=emulated)
    (expander,) = declared.of(CONFIG_MAP, "-expander").values()
    assert expander.inputs["metadata"]["annotations"] == {"pulumi.com/patchForce": "true"}
    # Only one provider may overwrite an existing object, and only this object uses it.
    taking = [p.name for p in declared.of(PROVIDER).values() if p.inputs.get("upsertExistingObjects") == "true"]
    assert taking == ["charmed-kubeflow-expander"]
    using = [r.type for r in declared.resources if f"::{taking[0]}::" in r.options.get("provider", "")]
    assert using == [CONFIG_MAP]


def test_the_pools_of_the_stack_that_made_the_cluster_are_another_owners(run: Run, contents: dict[str, Any]) -> None:
    # Made by a stack of this program, whose pools have the program's labels and no tag.
    contents["expander"] = {"metadata": {"labels": names.labels("blue")}, "data": {"priorities": "9: [od]\n1: ['.*']"}}
    system = {"name": "agentpool", "mode": "System", "count": 2, "vmSize": "Standard_D4s_v5"}
    autoscaled = {"enableAutoScaling": True, "minCount": 1, "maxCount": 3, "type": "VirtualMachineScaleSets"}
    labelled = {**system, **autoscaled, "nodeLabels": {"kubeflow-spot.dev/pool": "agentpool"}}
    with pytest.raises(pulumi.RunError, match=r"spotpool \(1\) does not stand above agentpool \(1\)"):
        run(with_(AKS, pools=[{**SPOTPOOL, "fallback": []}]), agentPoolProfiles=[labelled])


def test_nothing_is_taken_by_force_unless_asked(run: Run) -> None:
    declared = run(AKS)
    (expander,) = declared.of(CONFIG_MAP, "-expander").values()
    assert "annotations" not in expander.inputs["metadata"]
    assert [p.inputs.get("upsertExistingObjects", "false") for p in declared.of(PROVIDER).values()] == ["false"] * 2


LOGIN = {
    "name": "acr-auth",
    "server": "example.azurecr.io",
    "username": "puller",
    "password": "correct horse",
    "namespaces": ["kubeflow", "admin"],
}


def test_pull_secrets_are_in_their_namespaces_and_their_password_in_no_clear_text(run: Run) -> None:
    declared = run(with_(AKS, imagePullSecrets=[LOGIN]))
    secrets = declared.of(SECRET)
    assert {(s.inputs["metadata"]["namespace"], s.inputs["metadata"]["name"]) for s in secrets.values()} == {
        ("kubeflow", "acr-auth"),
        ("admin", "acr-auth"),
    }
    for secret in secrets.values():
        assert secret.inputs["type"] == "kubernetes.io/dockerconfigjson"
        assert set(secret.inputs["data"]) == {"4dabf18193072939515e22adb298388d", "value"}  # Pulumi's mark of a secret
        login = json.loads(base64.b64decode(secret.inputs["data"]["value"][".dockerconfigjson"]))
        auth = base64.b64encode(b"puller:correct horse").decode()
        assert login == {
            "auths": {"example.azurecr.io": {"username": "puller", "password": "correct horse", "auth": auth}}
        }
    assert "correct horse" not in json.dumps(declared.outputs, default=str)
