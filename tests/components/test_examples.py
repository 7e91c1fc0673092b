"""The stack files of the tutorials, as their first lines say to run them; and two stacks on one cluster."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml

from sandbox.tests.pods import node_of, run_pod, unschedulable
from sandbox.tests.stack import PROJECT, Stack, until
from sandbox.tests.subjects import DEV
from tests.components.program import declare, stack_config

STACKS = PROJECT / "examples" / "stacks"
EXPANDER = ("configmap", "cluster-autoscaler-priority-expander", "-n", "kube-system")

Up = Callable[[str], Stack]


def stack(project: Path, name: str) -> Stack:
    return Stack(project, project / ".sandbox", name)


def written(folder: Path, **config: Any) -> str:
    """Write a stack file with these settings; return its path."""
    path = folder / "stack.yaml"
    path.write_text(json.dumps({"config": {f"kubeflow-spot:{key}": value for key, value in config.items()}}))
    return str(path)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("examples")
    for file in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(PROJECT / file, project)
    return project


def running(project: Path, name: str, example: str) -> Iterator[Stack]:
    here = stack(project, name)
    files = ("--config-file", STACKS / f"{example}.yaml", "--cloud", STACKS / f"{example}.cloud.yaml")
    try:
        here.run("up", *map(str, files))
        yield here
    finally:
        here.run("down", "--force")


@pytest.fixture(scope="module")
def charmed(project: Path) -> Iterator[Stack]:
    yield from running(project, "charmed", "charmed-kubeflow-spot")


@pytest.fixture(scope="module")
def engine(project: Path) -> Iterator[Stack]:
    yield from running(project, "aks-engine", "aks-engine")


def outputs(stack: Stack) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(stack.run("outputs", "--json").stdout)
    return values


@pytest.mark.engine
def test_spotpool_is_added_to_the_existing_cluster_and_nothing_else_of_it_changes(charmed: Stack) -> None:
    charmed.run("scale", "spotpool", "0")
    nodes = charmed.get("nodes")["items"]
    assert [node["metadata"]["labels"]["agentpool"] for node in nodes] == ["agentpool"] * 2
    values = outputs(charmed)
    assert values["clusterName"] == "charmed-kubeflow"
    assert values["devicePlugin"] == {"pools": ["spotpool"], "leftTo": []}
    assert values["fallbackOrder"].startswith("not guaranteed: the cluster's expander is random; az aks update")
    assert charmed.steps() == []


@pytest.mark.engine
def test_a_gpu_pod_with_the_tutorials_toleration_runs_on_spotpool_and_one_without_never_does(charmed: Stack) -> None:
    charmed.run("scale", "spotpool", "1")
    assert charmed.steps() == []
    gpu = {
        "containers": [{"name": "main", "image": "example.com/train:1", "resources": {"limits": {"nvidia.com/gpu": 1}}}]
    }
    # The tutorial's label of one's own, and its affinity to spot nodes
    selected = {"nodeSelector": {"cloud.my-cloud.com/gpu-accelerator": "nvidia-t4"}}
    spot = {"key": "kubernetes.azure.com/scalesetpriority", "operator": "In", "values": ["spot"]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [spot]}]}}
    run_pod(charmed, "without", **gpu, **selected)
    run_pod(charmed, "tolerant", **gpu, tolerations=[DEV.toleration], affinity={"nodeAffinity": required})
    run_pod(charmed, "base-pipeline")
    assert until(lambda: node_of(charmed, "tolerant").startswith("aks-spotpool-"))
    assert until(lambda: node_of(charmed, "base-pipeline").startswith("aks-agentpool-"))
    assert until(lambda: "untolerated taint" in unschedulable(charmed, "without"))
    assert node_of(charmed, "without") == ""


@pytest.mark.engine
def test_two_stacks_on_one_cluster_do_not_meet_and_each_takes_its_own_away(charmed: Stack, tmp_path: Path) -> None:
    existing = {"resourceGroup": "charmed-kubeflow", "name": "charmed-kubeflow"}
    login = {"name": "acr-auth", "server": "example.azurecr.io", "username": "puller", "password": {"secure": "v1:x:y"}}
    pool = {"name": "blue", "machine": "Standard_NC8as_T4_v3", "capacity": "spot", "maxNodes": 2}
    settings: dict[str, Any] = {
        "release": "r2026-11",
        "cloud": {"provider": "azure", "existingCluster": existing},
        "imagePullSecrets": [login],
        "pools": [pool],
    }
    charmed.run("scale", "spotpool", "1")
    blue = stack(charmed.project, "Blue_1")
    options = ("--beside", "charmed", "--config-file", written(tmp_path, **settings))
    try:
        blue.run("up", *options)
        assert blue.steps() == []
        plugins = charmed.get("daemonsets", "-n", "kube-system")["items"]
        assert len({plugin["metadata"]["name"] for plugin in plugins}) == 2
        blue.run("scale", "blue", "1")
        assert until(lambda: reached(charmed) == {"charmed": ["spotpool"], "blue-1-20c6c1": ["blue"]})
        # The password, of which the sandbox has a fake, is in the API server's store, and encrypted elsewhere.
        encoded = charmed.get("secret", "acr-auth")["data"][".dockerconfigjson"].encode()
        state = [path for path in (blue.home / "Blue_1" / "backend").rglob("*") if path.is_file()]
        assert state
        assert [path for path in state if encoded in path.read_bytes()] == []
    finally:
        blue.run("down")
    assert [plugin["metadata"]["name"] for plugin in charmed.get("daemonsets", "-A")["items"]] == [
        "kubeflow-spot-charmed-device-plugin"
    ]
    assert charmed.get("secrets", "-A")["items"] == []
    assert charmed.steps() == []


@pytest.mark.engine
def test_by_a_kubeconfig_alone_the_layer_comes_and_goes(charmed: Stack, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(json.loads(charmed.run("outputs", "--json", "--show-secrets").stdout)["kubeconfig"])
    settings: dict[str, Any] = {
        "release": "r2026-11",
        "pools": [{"name": "lab", "machine": "rack-1", "gpus": 1, "maxNodes": 2}],
    }
    cloud: dict[str, Any] = {"provider": "existing", "name": "lab", "kubeconfig": {"file": str(kubeconfig)}}
    lab = stack(charmed.project, "lab")
    try:
        options = ("--config-file", written(tmp_path, **settings, cloud=cloud))
        lab.run("up", *options)
        names = [plugin["metadata"]["name"] for plugin in charmed.get("daemonsets", "-A")["items"]]
        assert names == ["kubeflow-spot-charmed-device-plugin", "kubeflow-spot-lab-device-plugin"]
        # From an output of a stack, here its own: the same kubeconfig, deciphered.
        cloud["kubeconfig"] = {"stack": "organization/kubeflow-spot/lab"}
        written(tmp_path, **settings, cloud=cloud)
        assert "nothing changed" in lab.run("up", *options).stdout
        cloud["kubeconfig"] = {"stack": "organization/kubeflow-spot/none"}
        written(tmp_path, **settings, cloud=cloud)
        (error,) = json.loads(lab.run("preview", "--json", *options, ok=False).stdout)["errors"]
        assert "cloud.kubeconfig.stack: the outputs of organization/kubeflow-spot/none cannot be read" in error
    finally:
        written(tmp_path, **settings, cloud={**cloud, "kubeconfig": {"file": str(kubeconfig)}})
        lab.run("down")
    assert "kubeflow-spot-lab-device-plugin" not in charmed.kubectl("get", "daemonsets", "-A")


def reached(stack: Stack) -> dict[str, list[str]]:
    """Return the pools whose nodes have a device plugin, by the plugin's stack."""
    pools: dict[str, list[str]] = {}
    for pod in stack.get("pods", "-n", "kube-system")["items"]:
        pool = pod["spec"].get("nodeName", "aks-none-").split("-")[1]
        pools.setdefault(pod["metadata"]["labels"]["app.kubernetes.io/instance"], []).append(pool)
    return pools


@pytest.mark.engine
@pytest.mark.slow
def test_aks_engines_design_comes_up_with_its_pools_subnets_labels_and_order(engine: Stack) -> None:
    tiers = yaml.safe_load(engine.get(*EXPANDER)["data"]["priorities"])
    assert [tiers[number] for number in sorted(tiers, reverse=True)] == [
        ["^aks-general-[0-9]+-vmss$"],
        ["^aks-system-[0-9]+-vmss$"],
        ["^aks-gpuspot-[0-9]+-vmss$"],
        ["^aks-gpuondemand-[0-9]+-vmss$"],
        [".*"],
    ]
    engine.run("scale", "gpuspot", "1")
    engine.run("scale", "gpuondemand", "1")
    nodes = {
        node["metadata"]["labels"]["agentpool"]: node["metadata"]["labels"] for node in engine.get("nodes")["items"]
    }
    subnet = "kubernetes.azure.com/network-subnet"
    assert {pool: (labels.get("gpu"), labels.get("general"), labels[subnet]) for pool, labels in nodes.items()} == {
        "system": (None, None, "nodes"),
        "general": (None, "true", "general"),
        "gpuspot": ("true", None, "gpu"),
        "gpuondemand": ("true", None, "gpu"),
    }
    assert engine.steps() == []


@pytest.mark.engine
@pytest.mark.slow
def test_a_second_stack_gets_the_lines_for_the_firsts_file_or_takes_over(engine: Stack, tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "release": "r2026-11",
        "cloud": {"provider": "azure", "existingCluster": {"resourceGroup": "imaging", "name": "imaging"}},
        "pools": [{"name": "t4", "machine": "Standard_NC4as_T4_v3", "capacity": "spot", "maxNodes": 1}],
    }
    guest = stack(engine.project, "guest")
    options = ("--beside", "aks-engine", "--config-file", written(tmp_path, **settings))
    try:
        refused = guest.run("up", *options, ok=False).stdout
        assert "belongs to stack 'aks-engine' of this program" in refused
        assert "- {priority: 55, groups: ['^aks-t4-[0-9]+-vmss$']}" in refused
        kept = [{"priority": 5, "groups": ["^aks-gpuspot-"]}]
        written(tmp_path, **settings, expander={"takeOwnership": True, "otherGroups": kept})
        done = guest.run("up", *options)
        assert "these lines of it are dropped" in done.stdout
        expander = engine.get(*EXPANDER)
        assert expander["metadata"]["labels"]["app.kubernetes.io/instance"] == "guest"
        assert list(yaml.safe_load(expander["data"]["priorities"])) == [10, 5, 1]
        assert guest.steps() == []
    finally:
        guest.run("down")


@pytest.mark.program
def test_the_v100_of_old_gives_an_error_that_names_its_successor() -> None:
    settings = stack_config(STACKS / "aks-engine.yaml")
    pool = settings["kubeflow-spot:pools"][1]
    successor = pool["machine"]
    pool["machine"] = "Standard_NC6s_v3"
    with pytest.raises(
        pulumi.RunError, match=rf"pools\[1\]\.machine: .* was retired on 2025-09-30\n\s+use {successor}"
    ):
        declare(settings)
    pool["machine"] = successor
    machines = [pool["machine"] for pool in declare(settings).outputs["pools"]]
    assert machines.count(successor) == 2


@pytest.mark.program
def test_the_examples_say_the_command_that_runs_them() -> None:
    for path in sorted(STACKS.glob("*.yaml")):
        head = path.read_text().partition("\nconfig:")[0]
        if path.name.endswith(".cloud.yaml"):
            assert path.name.replace(".cloud", "") in head
            continue
        assert f"--config-file examples/stacks/{path.name}" in head
        cloud = path.with_suffix(".cloud.yaml")
        assert cloud.exists()
        assert f"--cloud examples/stacks/{cloud.name}" in head
