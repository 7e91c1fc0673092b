"""An existing AKS cluster: pools in it and refusals, and what the layer leaves to plugins and ConfigMaps of other owners."""

import base64
import json
from typing import Any

import pulumi
import pytest

from components.azure import azure_live as counts
from components.layer import names
from sandbox.tests.azure.conftest import GROUP, NETWORK, POOL, SUBNET
from tests.components.emulated import EmulatedAzure
from tests.components.features import AKS, SPOTPOOL, Run, with_
from tests.components.program import declare

pytestmark = pytest.mark.program

PROVIDER = "pulumi:providers:kubernetes"


def test_only_pools_and_the_layer_are_declared_in_an_existing_cluster(run: Run) -> None:
    declared = run(AKS)
    assert sorted(r.type for r in declared.resources if r.type.startswith("azure-native")) == [POOL, POOL]
    for pool in declared.of(POOL).values():
        assert (pool.inputs["resourceGroupName"], pool.inputs["resourceName"]) == ("charmed", "charmed-kubeflow")
        # Made in the cluster's version, and upgraded with the cluster by its owner.
        assert "orchestratorVersion" not in pool.inputs
        assert pool.options["ignoreChanges"] == ["orchestratorVersion"]
        assert pool.inputs["tags"] == {"kubeflow-spot-stack": "test"}
    inside = [r for r in declared.resources if r.type.startswith("kubernetes:")]
    with_bindings = ["contract", "defaults", "lost-pods", "lost-pods-notice"]
    with_bindings += [f"guard-{role}" for role in ("labels", "labels-lasting", "platform", "profiles")]
    assert sorted(r.inputs["metadata"]["name"] for r in inside) == sorted(
        [
            *("cluster-autoscaler-priority-expander", "kubeflow-spot-test", "kubeflow-spot-test-device-plugin"),
            *(f"kubeflow-spot-test-{role}" for role in with_bindings * 2),
        ]
    )
    for resource in [*inside, *declared.of(POOL).values()]:
        # A deleted stack leaves the cluster: each of its resources is deleted by itself.
        assert "deletedWith" not in resource.options
        assert "replaceWith" not in resource.options


def test_a_pools_own_properties_are_beside_the_stacks_tags(run: Run) -> None:
    own = {"tags": {"cost": "batch"}, "linuxOSConfig": {"swapFileSizeMB": 1500}}
    declared = run({**AKS, "kubeflow-spot:pools": [{**SPOTPOOL, "azure": {"properties": own}}]})
    for pool in declared.of(POOL).values():
        assert pool.inputs["tags"] == {"kubeflow-spot-stack": "test", "cost": "batch"}
        assert pool.inputs["linuxOSConfig"] == {"swapFileSizeMB": 1500}
    assert declared.outputs["remembered"]["properties"] == {"pools": {"spotpool": own, "spotpoolod": own}}


def test_outputs_tell_how_to_reach_the_cluster_and_what_is_decided(run: Run) -> None:
    declared = run(AKS)
    outputs = declared.outputs
    assert declared.secret == {"kubeconfig"}
    assert outputs["kubeconfig"].startswith("kubeconfig of")
    assert outputs["kubeconfigCommand"] == "az aks get-credentials --resource-group charmed --name charmed-kubeflow"
    assert (outputs["clusterName"], outputs["resourceGroup"]) == ("charmed-kubeflow", "charmed")
    assert outputs["kubernetesVersion"] == "1.36.2"
    assert outputs["devicePlugin"] == {"pools": ["spotpool", "spotpoolod"], "leftTo": []}
    assert [pool["label"] for pool in outputs["pools"]] == ["spotpool", "spotpoolod"]
    assert outputs["fallbackOrder"].startswith("guaranteed by")
    tiers = [(tier["priority"], tier["pools"]) for tier in outputs["expander"]]
    assert tiers == [(20, ["spotpool"]), (10, ["spotpoolod"]), (1, [])]


def test_behind_entra_the_command_and_the_kubeconfig_are_for_kubelogin(run: Run, emulated: EmulatedAzure) -> None:
    declared = run(AKS, aadProfile={"managed": True, "adminGroupObjectIDs": ["11111111-2222-3333-4444-555555555555"]})
    assert declared.outputs["kubeconfigCommand"].endswith(" && kubelogin convert-kubeconfig -l azurecli")
    (request,) = (request for token, request in emulated.calls if token.endswith(":listManagedClusterUserCredentials"))
    assert request["format"] == "exec"


def test_a_missing_cluster_is_one_clean_error(emulated: EmulatedAzure, contents: dict[str, Any]) -> None:
    with pytest.raises(pulumi.RunError, match=r"cloud\.existingCluster: there is no AKS cluster 'charmed-kubeflow'"):
        declare(AKS, cloud=emulated)


def test_a_stopped_cluster_is_one_clean_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    live = counts.LiveCluster({}, {"powerState": {"code": "Stopped"}})
    monkeypatch.setattr(counts, "read_cluster", lambda group, name, reading: live)
    with pytest.raises(pulumi.RunError, match=r"is stopped\n  az aks start --resource-group charmed"):
        run(AKS)


@pytest.mark.parametrize(
    ("labels", "tags", "owner"),
    [
        ({}, {}, "another owner"),
        ({"kubeflow-spot.dev/pool": "spotpool"}, {"kubeflow-spot-stack": "blue"}, "stack 'blue'"),
    ],
)
def test_another_owners_pool_of_the_same_name_is_refused_before_a_request_to_azure(
    run: Run, labels: dict[str, str], tags: dict[str, str], owner: str
) -> None:
    pool = {"agentPoolName": "spotpool", "count": 1, "vmSize": "Standard_D4s_v5", "nodeLabels": labels, "tags": tags}
    with pytest.raises(pulumi.RunError, match=r"pools\[0\]\.name: .* made by " + owner) as refused:
        run(AKS, pool)
    assert "taken are: agentpool, spotpool" in str(refused.value)


@pytest.mark.usefixtures("contents")
@pytest.mark.parametrize("tags", [{"kubeflow-spot-stack": "test"}, {}])
def test_a_second_run_knows_its_own_pools_and_keeps_their_counts(tags: dict[str, str]) -> None:
    agentpool = {"name": "agentpool", "mode": "System", "count": 2}
    spotpool = {"name": "spotpool", "mode": "User", "count": 3, "scaleSetPriority": "Spot", "tags": tags}
    own = {**spotpool, "nodeLabels": {"kubeflow-spot.dev/pool": "spotpool"}}
    declared = declare(AKS, live=[agentpool, own])
    counts = {pool.inputs["agentPoolName"]: pool.inputs["count"] for pool in declared.of(POOL).values()}
    assert counts == {"spotpool": 3, "spotpoolod": 0}


def test_pools_go_to_the_system_pools_subnet_or_one_beside_it(run: Run, emulated: EmulatedAzure) -> None:
    emulated.make(GROUP, {"resourceGroupName": "net", "location": "westeurope"})
    place = {"resourceGroupName": "net", "virtualNetworkName": "corp"}
    emulated.make(NETWORK, {**place, "location": "westeurope", "addressSpace": {"addressPrefixes": ["10.9.0.0/16"]}})
    subnets = {
        name: emulated.make(SUBNET, {**place, "subnetName": name, "addressPrefix": f"10.9.{index}.0/24"})[0]
        for index, name in enumerate(("nodes", "gpus", "far"))
    }
    agentpool = {"name": "agentpool", "mode": "System", "count": 2, "vmSize": "Standard_D4s_v5"}
    profile = {**agentpool, "type": "VirtualMachineScaleSets", "vnetSubnetID": subnets["nodes"]}
    pools = [
        {**SPOTPOOL, "name": "a", "fallback": []},
        {**SPOTPOOL, "name": "b", "fallback": [], "subnet": "gpus"},
        {**SPOTPOOL, "name": "c", "fallback": [], "subnet": subnets["far"]},
    ]
    declared = run(with_(AKS, pools=pools), agentPoolProfiles=[profile])
    pool_subnets = {p.inputs["agentPoolName"]: p.inputs["vnetSubnetID"] for p in declared.of(POOL).values()}
    assert pool_subnets == {"a": subnets["nodes"], "b": subnets["gpus"], "c": subnets["far"]}


def test_in_a_network_of_aks_own_pools_name_no_subnet(run: Run) -> None:
    assert all("vnetSubnetID" not in pool.inputs for pool in run(AKS).of(POOL).values())


def test_a_named_subnet_in_a_network_of_aks_own_is_refused(run: Run) -> None:
    with pytest.raises(pulumi.RunError, match=r"pools\[0\]\.subnet: .*no subnets to name"):
        run(with_(AKS, pools=[{**SPOTPOOL, "subnet": "gpus"}]))


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
