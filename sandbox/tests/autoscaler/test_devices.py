"""GPUs of a node as NVIDIA's device plugin, or GKE's own, reports them."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from sandbox.autoscaler.devices import report
from sandbox.cloud.node_groups import Gpus

IMAGE = "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"
NODE: Any = {"metadata": {"name": "node", "creationTimestamp": "2026-01-01T00:00:10Z", "labels": {}}}
PLUGIN = {"name": "plugin", "image": IMAGE}
MANAGER = {
    "name": "manager",
    "image": IMAGE,
    "command": ["config-manager"],
    "env": [
        {"name": "CONFIG_FILE_SRCDIR", "value": "/available-configs"},
        {"name": "DEFAULT_CONFIG", "value": "plain"},
        {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    ],
    "volumeMounts": [{"name": "configs", "mountPath": "/available-configs/"}],
}
DAEMON = {"name": "mps", "image": IMAGE, "command": ["mps-control-daemon"]}


def pod(*containers: Any, status: Any = None, **spec: Any) -> Any:
    return {
        "metadata": {"namespace": "kube-system", "name": "plugin-1"},
        "spec": {"nodeName": "node", "containers": list(containers), **spec},
        "status": {"phase": "Running", "startTime": "2026-01-01T00:00:10Z", **(status or {})},
    }


def offered(*pods: Any, gpus: Gpus | None = None, files: Any = None, label: str = "") -> tuple[dict[str, int], str]:
    labels = {"nvidia.com/device-plugin.config": label} if label else {}
    node = {"metadata": {**NODE["metadata"], "labels": labels}}

    def read(namespace: str, name: str) -> Any:
        return files if (namespace, name) == ("kube-system", "configs") else None

    devices = report(node, pods, gpus or Gpus(4), read)
    return dict(devices.resources), devices.why


def with_configs(*containers: Any) -> Any:
    return pod(*containers, volumes=[{"name": "configs", "configMap": {"name": "configs"}}])


def sharing(kind: str = "timeSlicing", **options: Any) -> str:
    shared = {"resources": [{"name": "nvidia.com/gpu", "replicas": 10}], **options}
    return str(yaml.safe_dump({"version": "v1", "sharing": {kind: shared}}))


@pytest.mark.parametrize(
    "pods",
    [
        [],
        [pod({"name": "main", "image": "example.com/train:1"})],
        [pod({"name": "main", "image": "example.com/my-k8s-device-plugin:1"})],
        [pod(MANAGER)],
        [pod(DAEMON)],
        [pod({**PLUGIN, "command": ["/usr/bin/gpu-feature-discovery"]})],
        [pod(PLUGIN, status={"phase": "Pending"})],
        [pod(PLUGIN, status={"phase": "Failed"})],
        [pod(PLUGIN, nodeName="other")],
        # The pod of an earlier node of this name.
        [pod(PLUGIN, status={"startTime": "2026-01-01T00:00:09Z"})],
        [{**pod(PLUGIN), "metadata": {"namespace": "n", "name": "p", "deletionTimestamp": "now"}}],
    ],
)
def test_without_a_running_plugin_there_are_no_gpus(pods: list[Any]) -> None:
    assert offered(*pods) == ({}, "")


@pytest.mark.parametrize(
    "image", [IMAGE, "k8s-device-plugin", "mcr.microsoft.com/oss/nvidia/k8s-device-plugin@sha256:0"]
)
@pytest.mark.parametrize("command", [{}, {"command": ["nvidia-device-plugin"]}, {"command": ["bash", "-c", "start"]}])
def test_a_running_plugin_reports_the_gpus_of_the_machine(image: str, command: Any) -> None:
    resources, why = offered(pod({"name": "plugin", "image": image, **command}))
    assert (resources, why) == ({"nvidia.com/gpu": 4}, "kube-system/plugin-1")


def test_no_plugin_works_where_the_cloud_installs_no_driver() -> None:
    assert offered(pod(PLUGIN), gpus=Gpus(4, driver=False)) == ({}, "kube-system/plugin-1 finds no driver")


def plugin_pod(*arguments: str, **environment: str) -> Any:
    return pod({**PLUGIN, "args": list(arguments), "env": [{"name": n, "value": v} for n, v in environment.items()]})


@pytest.mark.parametrize(
    ("plugin", "expected"),
    [
        (plugin_pod(), {"nvidia.com/gpu": 2}),
        (plugin_pod(MIG_STRATEGY="none"), {"nvidia.com/gpu": 2}),
        (plugin_pod(MIG_STRATEGY="single"), {"nvidia.com/gpu": 6}),
        (plugin_pod(MIG_STRATEGY="mixed"), {"nvidia.com/mig-2g.24gb": 6}),
        # A flag stands over the environment.
        (plugin_pod("--mig-strategy=single", MIG_STRATEGY="mixed"), {"nvidia.com/gpu": 6}),
        (plugin_pod("--mig-strategy", "mixed"), {"nvidia.com/mig-2g.24gb": 6}),
        (plugin_pod(MIG_STRATEGY="double"), {}),
    ],
)
def test_partitions(plugin: Any, expected: Any) -> None:
    assert offered(plugin, gpus=Gpus(2, 94, "MIG2g", 3))[0] == expected


@pytest.mark.parametrize(
    ("memory", "profile", "name"),
    [
        (40, "MIG1g", "1g.5gb"),
        (40, "MIG7g", "7g.40gb"),
        (80, "MIG2g", "2g.20gb"),
        (80, "MIG4g", "4g.40gb"),
        (94, "MIG1g", "1g.12gb"),
        (94, "MIG3g", "3g.47gb"),
        (141, "MIG1g", "1g.18gb"),
        (141, "MIG2g", "2g.35gb"),
        (141, "MIG3g", "3g.71gb"),
    ],
)
def test_names_of_partitions(memory: int, profile: str, name: str) -> None:
    assert offered(plugin_pod(MIG_STRATEGY="mixed"), gpus=Gpus(1, memory, profile))[0] == {f"nvidia.com/mig-{name}": 1}


def test_gpus_in_one_piece_are_gpus_under_every_strategy() -> None:
    for strategy in ("none", "single", "mixed"):
        assert offered(plugin_pod(MIG_STRATEGY=strategy))[0] == {"nvidia.com/gpu": 4}


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("", {"nvidia.com/gpu": 4}),
        ("sliced", {"nvidia.com/gpu": 40}),
        ("renamed", {"nvidia.com/gpu.shared": 40}),
        ("unknown", {}),
    ],
)
def test_the_config_that_the_node_s_label_names(label: str, expected: Any) -> None:
    files = {"plain": "version: v1", "sliced": sharing(), "renamed": sharing(renameByDefault=True)}
    assert offered(with_configs(MANAGER, PLUGIN), files=files, label=label)[0] == expected


@pytest.mark.parametrize(
    ("strategies", "files", "expected"),
    [
        ("named,single", {"default": sharing(), "other": ""}, {"nvidia.com/gpu": 40}),
        ("named,single", {"other": sharing()}, {"nvidia.com/gpu": 40}),
        ("named,single", {"one": "", "other": ""}, {}),
        ("named,single,empty", {"one": "", "other": ""}, {"nvidia.com/gpu": 4}),
        ("", {"one": ""}, {}),
    ],
)
def test_without_a_default_the_fallbacks_choose(strategies: str, files: Any, expected: Any) -> None:
    environment = [MANAGER["env"][0], {"name": "FALLBACK_STRATEGIES", "value": strategies}]  # type: ignore[index]
    assert offered(with_configs({**MANAGER, "env": environment}, PLUGIN), files=files)[0] == expected


def test_a_config_file_without_a_manager() -> None:
    plugin = {
        **PLUGIN,
        "env": [{"name": "CONFIG_FILE", "value": "/config/sliced.yaml"}],
        "volumeMounts": [{"name": "configs", "mountPath": "/config"}],
    }
    assert offered(with_configs(plugin), files={"sliced.yaml": sharing()})[0] == {"nvidia.com/gpu": 40}
    assert offered(with_configs(plugin), files={"other.yaml": ""})[0] == {}
    assert offered(with_configs(plugin), files=None)[0] == {}


@pytest.mark.parametrize(
    ("file", "daemon", "expected"),
    [
        (sharing("mps"), True, {"nvidia.com/gpu": 40}),
        (sharing("mps", renameByDefault=True), True, {"nvidia.com/gpu.shared": 40}),
        (sharing("mps"), False, {}),
        # Short names get the prefix; what the machine does not have is skipped.
        (sharing(resources=[{"name": "gpu", "replicas": 2}]), False, {"nvidia.com/gpu": 8}),
        (sharing(resources=[{"name": "nvidia.com/mig-1g.5gb", "replicas": 2}]), False, {"nvidia.com/gpu": 4}),
        (sharing(resources=[{"name": "nvidia.com/gpu", "rename": "nvidia.com/x", "replicas": 2}]), False, {"nvidia.com/gpu": 8}),
        (sharing(resources=[{"name": "nvidia.com/gpu", "replicas": 1}]), False, {}),
        (sharing(resources=[]), False, {}),
        ("version: v2", False, {}),
        ("[", False, {}),
    ],
)  # fmt: skip
def test_sharing(file: str, daemon: bool, expected: Any) -> None:
    others = [pod(DAEMON)] if daemon else []
    assert offered(*others, with_configs(MANAGER, PLUGIN), files={"plain": file})[0] == expected


def test_sharing_of_partitions() -> None:
    cut = Gpus(1, 80, "MIG1g", 7)
    mixed = yaml.safe_load(sharing(resources=[{"name": "nvidia.com/mig-1g.10gb", "replicas": 2}]))
    mixed["flags"] = {"migStrategy": "mixed"}
    configured = with_configs(MANAGER, PLUGIN)
    assert offered(configured, gpus=cut, files={"plain": yaml.safe_dump(mixed)})[0] == {"nvidia.com/mig-1g.10gb": 14}
    mps = yaml.safe_load(sharing("mps"))
    mps["flags"] = {"migStrategy": "single"}
    resources, why = offered(pod(DAEMON), configured, gpus=cut, files={"plain": yaml.safe_dump(mps)})
    assert resources == {}
    assert "MPS is not supported with MIG" in why


BUILT_IN = {"name": "nvidia-gpu-device-plugin", "image": "gke.gcr.io/nvidia-gpu-device-plugin@sha256:0"}


@pytest.mark.parametrize(
    ("gpus", "count"),
    [
        (Gpus(2), 2),
        (Gpus(2, clients=4), 8),
        (Gpus(2, profile="1g.5gb", instances=7), 14),
        (Gpus(1, profile="3g.20gb", instances=2, clients=3), 6),
    ],
)
def test_the_plugin_that_gke_brings_shares_as_the_pool_says(gpus: Gpus, count: int) -> None:
    assert offered(pod(BUILT_IN), gpus=gpus) == ({"nvidia.com/gpu": count}, "kube-system/plugin-1")


def test_nvidia_s_plugin_in_its_place_knows_nothing_of_the_pool_s_sharing() -> None:
    cut = Gpus(1, profile="1g.5gb", instances=7, clients=3)
    assert offered(plugin_pod(), gpus=cut)[0] == {"nvidia.com/gpu": 1}
    assert offered(plugin_pod(MIG_STRATEGY="single"), gpus=cut)[0] == {"nvidia.com/gpu": 7}
    assert offered(plugin_pod(MIG_STRATEGY="mixed"), gpus=cut)[0] == {"nvidia.com/mig-1g.5gb": 7}


def test_two_plugins_on_a_node_compete() -> None:
    other = {**pod(BUILT_IN), "metadata": {"namespace": "kube-system", "name": "built-in"}}
    expected: Any = ({}, "kube-system/plugin-1 and kube-system/built-in compete for nvidia.com/gpu")
    assert offered(other, pod(PLUGIN)) == expected
    assert offered(pod(PLUGIN), other) == expected
    # A plugin that does not run does not compete.
    assert offered({**other, "status": {"phase": "Pending"}}, pod(PLUGIN))[0] == {"nvidia.com/gpu": 4}


def test_without_a_driver_the_built_in_plugin_finds_nothing() -> None:
    assert offered(pod(BUILT_IN), gpus=Gpus(4, driver=False)) == ({}, "kube-system/plugin-1 finds no driver")
