"""Existing device plugins: how they are recognized, and the pools that they reach."""

from typing import Any

import pytest

from components.layer import names
from components.layer.gpu import device_plugin, device_plugin_plan, existing_plugins
from components.resources import wire
from config.clouds.azure.azure_traits import Aks
from config.model.cluster import DevicePluginOptions
from config.model.spec import ClusterSpec
from config.placement import node_pools
from config.placement.node_pools import NodePool
from tests.config import stack

GPU = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
SPOT = [{"key": "kubernetes.azure.com/scalesetpriority", "operator": "Exists"}]


def daemon_set(
    name: str, *containers: dict[str, Any], labels: dict[str, str] | None = None, **pod: Any
) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "gpu", "labels": labels},
        "spec": {"template": {"spec": {"containers": list(containers), **pod}}},
    }


def container(image: str, *command: str) -> dict[str, Any]:
    return {"name": "main", "image": image, "command": list(command) or None}


def plugin_names(*daemon_sets: dict[str, Any], policies: tuple[dict[str, Any], ...] = ()) -> list[str]:
    return [str(plugin) for plugin in existing_plugins.plugins(daemon_sets, policies, "dev")]


@pytest.mark.parametrize(
    ("name", "image"),
    [
        ("nvidia-device-plugin-daemonset", "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"),
        ("gpus", "mcr.microsoft.com/oss/v2/nvidia/k8s-device-plugin@sha256:00"),
        ("gpus", "registry.example.com/mirror/k8s-device-plugin:v0.17.0"),
        ("nvidia-gpu-device-plugin-large-cos", "gke.gcr.io/nvidia-gpu-device-plugin"),
        ("nvidia-device-plugin-daemonset", "FILLED BY THE OPERATOR"),
    ],
)
def test_a_device_plugin_is_known_by_its_image_or_its_name(name: str, image: str) -> None:
    assert plugin_names(daemon_set(name, container(image))) == [f"gpu/{name}"]


@pytest.mark.parametrize(
    "other",
    [
        daemon_set("amdgpu-device-plugin", container("docker.io/rocm/k8s-device-plugin:1.31")),
        daemon_set("dcgm-exporter", container("nvcr.io/nvidia/k8s/dcgm-exporter:4.5")),
        # NVIDIA's chart runs these from the plugin's own image.
        daemon_set(
            "nvidia-device-plugin-gpu-feature-discovery",
            container("nvcr.io/nvidia/k8s-device-plugin:v0.20.0", "config-manager"),
            container("nvcr.io/nvidia/k8s-device-plugin:v0.20.0", "gpu-feature-discovery"),
        ),
        daemon_set("nvidia-device-plugin-mps-control-daemon", container("x/k8s-device-plugin", "mps-control-daemon")),
        daemon_set("nvidia-kata-sandbox-device-plugin-daemonset", container("nvcr.io/nvidia/kata-gpu")),
        daemon_set("kube-proxy", container("mcr.microsoft.com/oss/kubernetes/kube-proxy:v1.36.2")),
    ],
    ids=lambda other: other["metadata"]["name"],
)
def test_what_else_runs_beside_gpus_is_no_device_plugin(other: dict[str, Any]) -> None:
    assert plugin_names(other) == []


def test_a_plugin_beside_its_config_manager_is_one() -> None:
    image = "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"
    assert plugin_names(
        daemon_set("gpus", container(image, "config-manager"), container(image, "nvidia-device-plugin"))
    )


def test_this_stacks_own_plugin_is_no_existing_plugin_and_another_stacks_is() -> None:
    image = container("nvcr.io/nvidia/k8s-device-plugin:v0.20.0")
    own = daemon_set("kubeflow-spot-dev-device-plugin", image, labels=names.labels("dev"))
    other = daemon_set("kubeflow-spot-blue-device-plugin", image, labels=names.labels("blue"))
    assert plugin_names(own, other) == ["gpu/kubeflow-spot-blue-device-plugin"]


@pytest.fixture
def spec() -> ClusterSpec:
    return stack.spec(
        stack.good(
            pools=[
                {"name": "general", "machine": "Standard_D8ds_v5", "maxNodes": 6},
                {
                    "name": "t4",
                    "machine": "Standard_NC4as_T4_v3",
                    "capacity": "spot",
                    "maxNodes": 8,
                    "fallback": [{"onDemand": {"maxNodes": 2}}],
                },
            ]
        )
    )


@pytest.fixture
def pools(spec: ClusterSpec) -> tuple[NodePool, ...]:
    return node_pools.node_pools(spec, Aks())


def decided(spec: ClusterSpec, pools: tuple[NodePool, ...], **pod: Any) -> dict[str, Any]:
    plugins = existing_plugins.plugins([daemon_set("nvidia-device-plugin", container("nvidia"), **pod)], (), "dev")
    labels = {pool.name: {"agentpool": pool.name} for pool in pools}
    return device_plugin_plan.plan(spec, Aks(), pools, plugins, labels).as_output()


def pools_left(*pools: str) -> list[dict[str, Any]]:
    return [{"namespace": "gpu", "name": "nvidia-device-plugin", "pools": list(pools)}]


def test_pools_that_an_existing_plugin_reaches_are_left_to_it(spec: ClusterSpec, pools: tuple[NodePool, ...]) -> None:
    # NVIDIA's own manifest, which does not tolerate the taint of spot nodes
    assert decided(spec, pools, tolerations=GPU) == {"pools": ["t4"], "leftTo": pools_left("t4od")}
    assert decided(spec, pools, tolerations=GPU + SPOT) == {"pools": [], "leftTo": pools_left("t4", "t4od")}
    # Microsoft's sample, for nodes tainted sku=gpu:NoSchedule
    assert decided(spec, pools, tolerations=[{"key": "sku", "operator": "Exists"}]) == {
        "pools": ["t4", "t4od"],
        "leftTo": [],
    }


def test_a_plugin_for_another_pool_leaves_ours_alone(spec: ClusterSpec, pools: tuple[NodePool, ...]) -> None:
    both = ["t4", "t4od"]
    elsewhere = {"nodeSelector": {"agentpool": "a100"}, "tolerations": GPU + SPOT}
    assert decided(spec, pools, **elsewhere) == {"pools": both, "leftTo": []}
    # The labels of node-feature-discovery are unknown until a node exists.
    unknown = {"nodeSelector": {"nvidia.com/gpu.present": "true"}, "tolerations": GPU + SPOT}
    assert decided(spec, pools, **unknown) == {"pools": [], "leftTo": pools_left(*both)}


def test_a_stack_beside_ours_serves_its_own_pools_only(spec: ClusterSpec, pools: tuple[NodePool, ...]) -> None:
    other_pools = node_pools.node_pools(
        stack.spec(
            stack.good(
                pools=[{"name": "a100", "machine": "Standard_NC24ads_A100_v4", "capacity": "spot", "maxNodes": 1}]
            )
        ),
        Aks(),
    )
    spec_args = device_plugin.daemon_set_spec(other_pools, "nvcr.io/nvidia/k8s-device-plugin", "blue")
    blue = {"metadata": {"name": "blue", "namespace": "kube-system"}, "spec": wire(spec_args)}
    plugins = existing_plugins.plugins([blue], (), "dev")
    assert len(plugins) == 1
    assert device_plugin_plan.plan(spec, Aks(), pools, plugins).left_to == {}
    assert device_plugin_plan.plan(spec, Aks(), other_pools, plugins).pools == ()


def test_a_gpu_operator_counts_before_its_first_node_has_come(spec: ClusterSpec, pools: tuple[NodePool, ...]) -> None:
    def policy(**content: Any) -> dict[str, Any]:
        return {"metadata": {"name": "cluster-policy"}, "spec": content}

    def decision(**content: Any) -> dict[str, Any]:
        plugins = existing_plugins.plugins([], [policy(**content)], "dev")
        return device_plugin_plan.plan(spec, Aks(), pools, plugins).as_output()

    operator = "the GPU operator's ClusterPolicy cluster-policy"
    assert decision() == {"pools": ["t4"], "leftTo": [{"namespace": "", "name": operator, "pools": ["t4od"]}]}
    tolerant = {"daemonsets": {"tolerations": GPU + SPOT}}
    assert decision(**tolerant)["leftTo"] == [{"namespace": "", "name": operator, "pools": ["t4", "t4od"]}]
    assert decision(devicePlugin={"enabled": False}, **tolerant)["leftTo"] == []


def test_pools_without_a_driver_are_left_to_the_one_who_installs_it(spec: ClusterSpec) -> None:
    pools = [pool.model_copy(update={"install_driver": False}) for pool in spec.pools]
    bare = spec.model_copy(update={"pools": tuple(pools)})
    decision = device_plugin_plan.plan(bare, Aks(), node_pools.node_pools(bare, Aks()))
    assert decision.pools == ()
    assert list(decision.left_to.values()) == [("t4", "t4od")]
    assert "installDriver" in next(decision.warnings)


def test_never_means_never(spec: ClusterSpec, pools: tuple[NodePool, ...]) -> None:
    none = spec.model_copy(update={"device_plugin": DevicePluginOptions(install="never")})
    assert device_plugin_plan.plan(none, Aks(), pools).as_output() == {"pools": [], "leftTo": []}
    assert device_plugin_plan.plan(spec, Aks(), pools).as_output() == {"pools": ["t4", "t4od"], "leftTo": []}
