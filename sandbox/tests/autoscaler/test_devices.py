"""GPUs of a node as NVIDIA's device plugin, or GKE's own, reports them."""

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
BUILT_IN = {"name": "nvidia-gpu-device-plugin", "image": "gke.gcr.io/nvidia-gpu-device-plugin@sha256:0"}
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


def plugin_pod(*arguments: str, **environment: str) -> Any:
    return pod({**PLUGIN, "args": list(arguments), "env": [{"name": n, "value": v} for n, v in environment.items()]})


TWO, SEVEN = Gpus(2, 94, "MIG2g", 3), Gpus(1, profile="1g.5gb", instances=7, clients=3)
NAMES = [
    (40, "MIG1g", "1g.5gb"), (40, "MIG7g", "7g.40gb"), (80, "MIG2g", "2g.20gb"), (80, "MIG4g", "4g.40gb"),
    (94, "MIG1g", "1g.12gb"), (94, "MIG3g", "3g.47gb"), (141, "MIG1g", "1g.18gb"), (141, "MIG2g", "2g.35gb"),
    (141, "MIG3g", "3g.71gb"),
]  # fmt: skip
"""A partition's name by the memory of its GPU and its profile."""


@pytest.mark.parametrize(
    ("plugin", "gpus", "expected"),
    [
        (plugin_pod(), TWO, {"nvidia.com/gpu": 2}),
        (plugin_pod(MIG_STRATEGY="none"), TWO, {"nvidia.com/gpu": 2}),
        (plugin_pod(MIG_STRATEGY="single"), TWO, {"nvidia.com/gpu": 6}),
        (plugin_pod(MIG_STRATEGY="mixed"), TWO, {"nvidia.com/mig-2g.24gb": 6}),
        # A flag stands over the environment.
        (plugin_pod("--mig-strategy=single", MIG_STRATEGY="mixed"), TWO, {"nvidia.com/gpu": 6}),
        (plugin_pod("--mig-strategy", "mixed"), TWO, {"nvidia.com/mig-2g.24gb": 6}),
        (plugin_pod(MIG_STRATEGY="double"), TWO, {}),
        *((plugin_pod(MIG_STRATEGY="mixed"), Gpus(1, *gpu), {f"nvidia.com/mig-{name}": 1}) for *gpu, name in NAMES),
        # GPUs in one piece are GPUs under every strategy.
        *((plugin_pod(MIG_STRATEGY=each), Gpus(4), {"nvidia.com/gpu": 4}) for each in ("none", "single", "mixed")),
        # The plugin that GKE brings shares as the pool says.
        (pod(BUILT_IN), Gpus(2), {"nvidia.com/gpu": 2}),
        (pod(BUILT_IN), Gpus(2, clients=4), {"nvidia.com/gpu": 8}),
        (pod(BUILT_IN), Gpus(2, profile="1g.5gb", instances=7), {"nvidia.com/gpu": 14}),
        (pod(BUILT_IN), Gpus(1, profile="3g.20gb", instances=2, clients=3), {"nvidia.com/gpu": 6}),
        # NVIDIA's plugin in its place knows nothing of the pool's sharing.
        (plugin_pod(), SEVEN, {"nvidia.com/gpu": 1}),
        (plugin_pod(MIG_STRATEGY="single"), SEVEN, {"nvidia.com/gpu": 7}),
        (plugin_pod(MIG_STRATEGY="mixed"), SEVEN, {"nvidia.com/mig-1g.5gb": 7}),
    ],
)
def test_gpus_and_partitions_by_plugin_and_strategy(plugin: Any, gpus: Gpus, expected: Any) -> None:
    resources, why = offered(plugin, gpus=gpus)
    assert resources == expected
    assert why == "kube-system/plugin-1" or not expected


@pytest.mark.parametrize("plugin", [PLUGIN, BUILT_IN], ids=["own", "built-in"])
def test_no_plugin_works_where_the_cloud_installs_no_driver(plugin: Any) -> None:
    assert offered(pod(plugin), gpus=Gpus(4, driver=False)) == ({}, "kube-system/plugin-1 finds no driver")


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


def test_two_plugins_on_a_node_compete() -> None:
    other = {**pod(BUILT_IN), "metadata": {"namespace": "kube-system", "name": "built-in"}}
    expected: Any = ({}, "kube-system/plugin-1 and kube-system/built-in compete for nvidia.com/gpu")
    assert offered(other, pod(PLUGIN)) == expected
    assert offered(pod(PLUGIN), other) == expected
    # A plugin that does not run does not compete.
    assert offered({**other, "status": {"phase": "Pending"}}, pod(PLUGIN))[0] == {"nvidia.com/gpu": 4}
