"""A whole stack whose pools share GPUs."""

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.tests.stack import Stack
from tests.components.gpu_agents import DAEMON_SET, LABEL, POOL, SHARING
from tests.components.program import Declared, declare, stack_config


@pytest.fixture
def settings() -> dict[str, Any]:
    return stack_config(SHARING)


def inside(declared: Declared) -> dict[str, dict[str, Any]]:
    """Return the objects of this file in the cluster, as `Kind/name`."""
    kinds = ("DaemonSet", "Service", "ServiceAccount", "ClusterRole", "ClusterRoleBinding")
    in_cluster = [r for r in declared.resources if r.type.startswith("kubernetes:")]
    return {
        f"{r.inputs['kind']}/{r.inputs['metadata']['name']}": r.inputs
        for r in in_cluster
        if r.inputs["kind"] in kinds or r.inputs["metadata"]["name"] == "kubeflow-spot-test-device-plugin"
    }


@pytest.mark.program
def test_a_stack_that_shares_declares_all_that_its_pods_refer_to(settings: dict[str, Any]) -> None:
    declared = declare(settings)
    objects = inside(declared)
    called = "kubeflow-spot-test-device-plugin"
    assert set(objects) == {
        f"ConfigMap/{called}",
        f"ServiceAccount/{called}",
        f"ClusterRole/{called}",
        f"ClusterRoleBinding/{called}",
        f"DaemonSet/{called}",
        "DaemonSet/kubeflow-spot-test-mps-serving",
        "DaemonSet/kubeflow-spot-test-mps-servingod",
        "DaemonSet/kubeflow-spot-test-dcgm-exporter",
        "Service/kubeflow-spot-test-dcgm-exporter",
    }
    for shown in objects.values():
        spec = shown["spec"]["template"]["spec"] if shown["kind"] == "DaemonSet" else {}
        assert spec.get("serviceAccountName", called) == called
        assert {v["configMap"]["name"] for v in spec.get("volumes", []) if "configMap" in v} <= {called}
        for container in (*spec.get("initContainers", []), *spec.get("containers", [])):
            assert "@sha256:" in container["image"]
    binding = objects[f"ClusterRoleBinding/{called}"]
    assert binding["roleRef"]["name"] == called
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": called, "namespace": "kube-system"}]
    assert objects[f"ClusterRole/{called}"]["rules"] == [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]}
    ]
    first = {"ConfigMap", "ServiceAccount", "ClusterRole", "ClusterRoleBinding"}
    for daemon_set in declared.of(DAEMON_SET).values():
        waits = {urn.split("::")[2].rpartition(":")[2] for urn in daemon_set.options.get("dependencies", [])}
        sharing = "dcgm" not in daemon_set.name
        assert (first <= waits) is sharing, daemon_set.name


@pytest.mark.program
def test_the_label_is_on_the_pool_itself_and_so_known_before_it_has_a_node(settings: dict[str, Any]) -> None:
    declared = declare(settings)
    data = inside(declared)["ConfigMap/kubeflow-spot-test-device-plugin"]["data"]
    labels = {pool.inputs["agentPoolName"]: pool.inputs["nodeLabels"] for pool in declared.of(POOL).values()}
    sharing = {name: name for name in ("notebooks", "serving", "servingod", "slices")}
    assert {name: own.get(LABEL) for name, own in labels.items()} == {"general": None, "train": None} | sharing
    assert {node_labels[LABEL] for node_labels in labels.values() if LABEL in node_labels} <= set(data)


@pytest.mark.program
def test_without_sharing_there_is_the_plugin_alone(settings: dict[str, Any]) -> None:
    settings["kubeflow-spot:pools"] = [settings["kubeflow-spot:pools"][index] for index in (0, -1)]
    settings["kubeflow-spot:dcgmExporter"] = {"enabled": False}
    assert set(inside(declare(settings))) == {"DaemonSet/kubeflow-spot-test-device-plugin"}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    here = Stack.copy(tmp_path_factory.mktemp("sharing"))
    here.file.write_text(SHARING.read_text())
    here.run("up")
    yield here
    here.run("down")


@pytest.mark.engine
def test_a_real_api_server_takes_it_all_and_a_change_replaces_nothing(running: Stack) -> None:
    assert running.steps() == []
    daemon_sets = {
        daemon_set["metadata"]["name"] for daemon_set in running.get("daemonsets", "-n", "kube-system")["items"]
    }
    assert daemon_sets == {
        f"kubeflow-spot-dev-{role}" for role in ("device-plugin", "mps-serving", "mps-servingod", "dcgm-exporter")
    }
    # The manager watches its node as the account that its pod has, and may do nothing else.
    account = "--as=system:serviceaccount:kube-system:kubeflow-spot-dev-device-plugin"
    assert running.kubectl("auth", "can-i", "watch", "nodes", account).strip() == "yes"
    running.kubectl("auth", "can-i", "patch", "nodes", account, ok=False)
    config = running.config
    config["pools"][1]["gpuSharing"]["replicas"] = 2
    config["pools"][4]["gpuSharing"] = {"strategy": "time-slicing", "replicas": 2}
    running.write(config)
    steps = {name: (op, diff) for op, name, diff in running.up()}
    assert {op for op, _ in steps.values()} == {"update"}
    pools = {
        name: diff for name, (_, diff) in steps.items() if name.startswith("ml-sharing-") and "nodeLabels" in str(diff)
    }
    assert list(pools) == ["ml-sharing-train"]
    assert {"ml-sharing-device-plugin", "ml-sharing-device-plugin-configs"} <= steps.keys()
    assert not {name for name in steps if "mps" in name}
