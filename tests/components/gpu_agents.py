"""Pools that share GPUs in every way, and the DaemonSets declared for them."""

from typing import Any

from components.layer.gpu import dcgm, device_plugin, mps
from components.resources import wire
from config.clouds.azure.azure_traits import Aks
from config.model.spec import ClusterSpec
from config.placement import node_pools
from config.placement.node_pools import NodePool
from tests.components.program import PROJECT
from tests.config import stack

SHARING = PROJECT / "tests" / "configs" / "sharing.happy.yaml"

POOL = "azure-native:containerservice:AgentPool"

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"

IMAGE = "nvcr.io/nvidia/k8s-device-plugin:v0.20.0@sha256:00"

LABEL = "nvidia.com/device-plugin.config"
"""As NVIDIA's README has it, not as our code does."""


def spec_of(settings: dict[str, Any]) -> ClusterSpec:
    return stack.spec({key.removeprefix("kubeflow-spot:"): value for key, value in settings.items()})


def gpu_pools(spec: ClusterSpec) -> dict[str, NodePool]:
    return {pool.name: pool for pool in node_pools.node_pools(spec, Aks()) if pool.gpus}


def with_(spec: ClusterSpec, name: str, **changed: Any) -> dict[str, NodePool]:
    """Return the GPU pools after a change of one pool of the file."""
    new = tuple(pool.model_copy(update=changed) if pool.name == name else pool for pool in spec.pools)
    return gpu_pools(spec.model_copy(update={"pools": new}))


def replicas(spec: ClusterSpec, name: str, number: int) -> dict[str, NodePool]:
    (sharing,) = (pool.gpu_sharing for pool in spec.pools if pool.name == name)
    assert sharing
    return with_(spec, name, gpu_sharing=sharing.model_copy(update={"replicas": number}))


def plugin(pools: dict[str, NodePool]) -> dict[str, Any]:
    return wire(device_plugin.daemon_set_spec(list(pools.values()), IMAGE, "dev"))


def mps_daemon(pool: NodePool) -> dict[str, Any]:
    return wire(mps.daemon_set_spec(pool, IMAGE, "dev", "configs"))


def exporter(pools: dict[str, NodePool]) -> dict[str, Any]:
    return wire(dcgm.daemon_set_spec(list(pools.values()), IMAGE, "dev"))


def pod(daemon_set: dict[str, Any]) -> dict[str, Any]:
    pod_spec: dict[str, Any] = daemon_set["template"]["spec"]
    return pod_spec


def main_container(daemon_set: dict[str, Any]) -> dict[str, Any]:
    container: dict[str, Any] = pod(daemon_set)["containers"][-1]
    return container


def environment(container: dict[str, Any]) -> dict[str, str]:
    return {variable["name"]: variable.get("value", "") for variable in container.get("env", [])}
