"""The program in clusters that somebody else made: what it declares there, and what it refuses."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.addons import discovery, names
from components.addons.discovery import Contents
from components.azure import live as counts
from tests.components.emulated import EmulatedAzure
from tests.components.program import Declared, declare
from tests.sandbox.azure.conftest import CLUSTER, GROUP, NETWORK, POOL, SUBNET

pytestmark = pytest.mark.program

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
SECRET = "kubernetes:core/v1:Secret"
PROVIDER = "pulumi:providers:kubernetes"

SPOTPOOL: dict[str, Any] = {
    "name": "spotpool",
    "machine": "Standard_NC4as_T4_v3",
    "capacity": "spot",
    "maxNodes": 4,
    "fallback": [{"onDemand": {"maxNodes": 1}}],
}
AKS = {
    "kubeflow-spot:release": "r2026-11",
    "kubeflow-spot:cloud": {
        "provider": "azure",
        "existingCluster": {"resourceGroup": "charmed", "name": "charmed-kubeflow"},
    },
    "kubeflow-spot:pools": [SPOTPOOL],
}
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

Run = Callable[..., Declared]


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What is in the cluster, as fields of `Contents`; to be changed before the run."""
    contents: dict[str, Any] = {"version": "1.36.2"}
    monkeypatch.setattr(discovery, "read", lambda kubeconfig, what, compute_class=None: Contents(**contents))
    return contents


@pytest.fixture
def azure(tmp_path: Path) -> EmulatedAzure:
    return EmulatedAzure(tmp_path / "azure.json", "westeurope")


@pytest.fixture
def run(there: dict[str, Any], azure: EmulatedAzure, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the program on the cluster charmed-kubeflow, made now with these inputs beside the least ones."""

    def run(settings: dict[str, Any], *pools: dict[str, Any], **cluster: Any) -> Declared:
        azure.make(GROUP, {"resourceGroupName": "charmed", "location": "westeurope"})
        make_cluster(azure, **cluster)
        for pool in pools:
            azure.make(POOL, {"resourceGroupName": "charmed", "resourceName": "charmed-kubeflow", **pool})
        return declare(settings, monkeypatch, cloud=azure)

    return run


def make_cluster(azure: EmulatedAzure, **inputs: Any) -> None:
    agentpool = {"name": "agentpool", "mode": "System", "count": 2, "vmSize": "Standard_D4s_v5"}
    azure.make(
        CLUSTER,
        {
            "resourceGroupName": "charmed",
            "resourceName": "charmed-kubeflow",
            "dnsPrefix": "charmed",
            "kubernetesVersion": "1.35",
            "identity": {"type": "SystemAssigned"},
            "autoScalerProfile": {"expander": "priority"},
            "agentPoolProfiles": [{**agentpool, "type": "VirtualMachineScaleSets"}],
            **inputs,
        },
    )


def with_(settings: dict[str, Any], **top: Any) -> dict[str, Any]:
    return {**settings, **{f"kubeflow-spot:{key}": value for key, value in top.items()}}


def test_only_pools_and_the_layer_are_declared_in_somebody_elses_cluster(run: Run) -> None:
    declared = run(AKS)
    assert sorted(r.type for r in declared.resources if r.type.startswith("azure-native")) == [POOL, POOL]
    for pool in declared.of(POOL).values():
        assert (pool.inputs["resourceGroupName"], pool.inputs["resourceName"]) == ("charmed", "charmed-kubeflow")
        # Made in the cluster's version, and upgraded by whoever upgrades the cluster.
        assert "orchestratorVersion" not in pool.inputs
        assert pool.options["ignoreChanges"] == ["orchestratorVersion"]
        assert pool.inputs["tags"] == {"kubeflow-spot-stack": "test"}
    inside = [r for r in declared.resources if r.type.startswith("kubernetes:")]
    assert sorted(r.inputs["metadata"]["name"] for r in inside) == [
        "cluster-autoscaler-priority-expander",
        "kubeflow-spot",
        "kubeflow-spot-test-contract",
        "kubeflow-spot-test-contract",
        "kubeflow-spot-test-defaults",
        "kubeflow-spot-test-defaults",
        "kubeflow-spot-test-device-plugin",
        *["kubeflow-spot-test-guard-platform"] * 2,
        *["kubeflow-spot-test-guard-profiles"] * 2,
    ]
    for resource in [*inside, *declared.of(POOL).values()]:
        # The cluster stays when the stack goes: each goes by itself, and none goes for the cluster's sake.
        assert "deletedWith" not in resource.options
        assert "replaceWith" not in resource.options


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
    assert [(tier["priority"], tier["pools"]) for tier in outputs["expander"]] == [
        (20, ["spotpool"]),
        (10, ["spotpoolod"]),
        (1, []),
    ]


def test_a_label_outlives_a_pools_generation(run: Run) -> None:
    pool = {"name": "gpu", "machine": "Standard_NC4as_T4_v3", "maxNodes": 1, "generation": "b"}
    (shown,) = run(with_(AKS, pools=[pool])).outputs["pools"]
    assert (shown["name"], shown["label"]) == ("gpub", "gpu")


def test_behind_entra_the_command_and_the_kubeconfig_are_for_kubelogin(run: Run, azure: EmulatedAzure) -> None:
    declared = run(AKS, aadProfile={"managed": True, "adminGroupObjectIDs": ["11111111-2222-3333-4444-555555555555"]})
    assert declared.outputs["kubeconfigCommand"].endswith(" && kubelogin convert-kubeconfig -l azurecli")
    (asked,) = (asked for token, asked in azure.calls if token.endswith(":listManagedClusterUserCredentials"))
    assert asked["format"] == "exec"


def test_a_foreign_plugins_pools_are_left_to_it_with_a_warning(
    run: Run, there: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warnings.append)
    there["daemon_sets"] = (PLUGIN,)
    declared = run(AKS)
    plugin = {"namespace": "kube-system", "name": "nvidia-device-plugin-daemonset"}
    assert declared.outputs["devicePlugin"] == {"pools": ["spotpool"], "leftTo": [{**plugin, "pools": ["spotpoolod"]}]}
    assert ["kube-system/nvidia-device-plugin-daemonset" in text and "spotpoolod" in text for text in warnings] == [
        True
    ]
    (ours,) = declared.of(DAEMON_SET).values()
    assert json.dumps(ours.inputs["spec"]["template"]).count("spotpoolod") == 0


def test_a_plugin_for_one_of_aks_own_labels_leaves_other_pools_alone(run: Run, there: dict[str, Any]) -> None:
    pod = {**PLUGIN["spec"]["template"]["spec"], "nodeSelector": {"agentpool": "a100"}}
    there["daemon_sets"] = ({**PLUGIN, "spec": {"template": {"spec": pod}}},)
    assert run(AKS).outputs["devicePlugin"]["leftTo"] == []


def test_no_plugin_is_declared_where_none_is_wanted(run: Run) -> None:
    declared = run(with_(AKS, devicePlugin={"install": "never"}))
    assert declared.of(DAEMON_SET) == {}
    assert declared.outputs["devicePlugin"] == {"pools": [], "leftTo": []}


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


def test_somebody_elses_map_is_refused_and_taken_over_by_force_when_asked(
    run: Run, there: dict[str, Any], azure: EmulatedAzure, monkeypatch: pytest.MonkeyPatch
) -> None:
    there["expander"] = {"metadata": {}, "data": {"priorities": "50: [agentpool]\n1: ['.*']"}}
    with pytest.raises(pulumi.RunError, match="belongs to somebody else"):
        run(AKS)
    declared = declare(with_(AKS, expander={"takeOwnership": True}), monkeypatch, cloud=azure)
    (expander,) = declared.of(CONFIG_MAP, "-expander").values()
    assert expander.inputs["metadata"]["annotations"] == {"pulumi.com/patchForce": "true"}
    # One provider may take what is there, and only this object has it.
    taking = [p.name for p in declared.of(PROVIDER).values() if p.inputs.get("upsertExistingObjects") == "true"]
    assert taking == ["charmed-kubeflow-expander"]
    using = [r.type for r in declared.resources if f"::{taking[0]}::" in r.options.get("provider", "")]
    assert using == [CONFIG_MAP]


def test_the_pools_of_the_stack_that_made_the_cluster_are_somebody_elses(run: Run, there: dict[str, Any]) -> None:
    # Made by a stack of this program, whose pools have the program's labels and no tag.
    there["expander"] = {"metadata": {"labels": names.labels("blue")}, "data": {"priorities": "9: [od]\n1: ['.*']"}}
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


def test_a_missing_cluster_is_one_clean_error(
    azure: EmulatedAzure, there: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(pulumi.RunError, match=r"cloud\.existingCluster: there is no AKS cluster 'charmed-kubeflow'"):
        declare(AKS, monkeypatch, cloud=azure)


def test_a_stopped_cluster_is_one_clean_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    live = counts.LiveCluster({}, {"powerState": {"code": "Stopped"}})
    monkeypatch.setattr(counts, "read", lambda group, name, reading: live)
    with pytest.raises(pulumi.RunError, match=r"is stopped\n  az aks start --resource-group charmed"):
        run(AKS)


@pytest.mark.parametrize(
    ("labels", "tags", "owner"),
    [
        ({}, {}, "another owner"),
        ({"kubeflow-spot.dev/pool": "spotpool"}, {"kubeflow-spot-stack": "blue"}, "stack 'blue'"),
    ],
)
def test_a_pool_of_that_name_that_is_not_ours_is_told_before_azure_is_asked(
    run: Run, labels: dict[str, str], tags: dict[str, str], owner: str
) -> None:
    pool = {"agentPoolName": "spotpool", "count": 1, "vmSize": "Standard_D4s_v5", "nodeLabels": labels, "tags": tags}
    with pytest.raises(pulumi.RunError, match=r"pools\[0\]\.name: .* made by " + owner) as refused:
        run(AKS, pool)
    assert "taken are: agentpool, spotpool" in str(refused.value)


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("tags", [{"kubeflow-spot-stack": "test"}, {}])
def test_a_second_run_knows_its_own_pools_and_keeps_their_counts(
    tags: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    agentpool = {"name": "agentpool", "mode": "System", "count": 2}
    spotpool = {"name": "spotpool", "mode": "User", "count": 3, "scaleSetPriority": "Spot", "tags": tags}
    own = {**spotpool, "nodeLabels": {"kubeflow-spot.dev/pool": "spotpool"}}
    declared = declare(AKS, monkeypatch, live=[agentpool, own])
    counts = {pool.inputs["agentPoolName"]: pool.inputs["count"] for pool in declared.of(POOL).values()}
    assert counts == {"spotpool": 3, "spotpoolod": 0}


def test_pools_go_to_the_system_pools_subnet_or_one_beside_it(run: Run, azure: EmulatedAzure) -> None:
    azure.make(GROUP, {"resourceGroupName": "net", "location": "westeurope"})
    place = {"resourceGroupName": "net", "virtualNetworkName": "corp"}
    azure.make(NETWORK, {**place, "location": "westeurope", "addressSpace": {"addressPrefixes": ["10.9.0.0/16"]}})
    subnets = {
        name: azure.make(SUBNET, {**place, "subnetName": name, "addressPrefix": f"10.9.{index}.0/24"})[0]
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
    assert {p.inputs["agentPoolName"]: p.inputs["vnetSubnetID"] for p in declared.of(POOL).values()} == {
        "a": subnets["nodes"],
        "b": subnets["gpus"],
        "c": subnets["far"],
    }


def test_in_a_network_of_aks_own_pools_name_no_subnet(run: Run) -> None:
    assert all("vnetSubnetID" not in pool.inputs for pool in run(AKS).of(POOL).values())


def test_a_named_subnet_in_a_network_of_aks_own_is_refused(run: Run) -> None:
    with pytest.raises(pulumi.RunError, match=r"pools\[0\]\.subnet: .*no subnets to name"):
        run(with_(AKS, pools=[{**SPOTPOOL, "subnet": "gpus"}]))


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
