"""Our pods as the sandbox reads them: by NVIDIA's documents, without our code."""

from __future__ import annotations

from typing import Any

import pytest
from pulumi_kubernetes.apps.v1 import DaemonSetSpecArgs

from components.layer.gpu import device_plugin, mps, plugin_config
from components.resources import wire
from config.clouds.azure.azure_traits import Aks
from config.placement import node_pools
from config.placement.node_pools import NodePool
from sandbox.autoscaler import devices
from sandbox.cloud.node_groups import Gpus
from tests.components.gpu_agents import IMAGE, SHARING, spec_of
from tests.components.program import stack_config

POOLS = [pool for pool in node_pools.node_pools(spec_of(stack_config(SHARING)), Aks()) if pool.gpus]
T4 = Gpus(1, 16)
A100 = Gpus(1, 80)
SLICES = Gpus(1, 80, profile="MIG1g", instances=7)


def running(daemon_set: DaemonSetSpecArgs) -> dict[str, Any]:
    return {
        "metadata": {"namespace": "kube-system", "name": "pod"},
        "spec": {**wire(daemon_set)["template"]["spec"], "nodeName": "node"},
        "status": {"phase": "Running"},
    }


def reported(pool: NodePool, gpus: Gpus, labels: dict[str, str], daemon: bool = True) -> dict[str, int]:
    node = {"metadata": {"name": "node", "labels": labels}}
    pods = [running(device_plugin.daemon_set_spec(POOLS, IMAGE, "dev"))]
    if daemon and mps.shared_by_mps(pool):
        pods.append(running(mps.daemon_set_spec(pool, IMAGE, "dev", "kubeflow-spot-dev-device-plugin")))
    data = {("kube-system", "kubeflow-spot-dev-device-plugin"): plugin_config.data(POOLS)}
    return dict(devices.report(node, pods, gpus, lambda *place: data.get(place)).resources)


@pytest.mark.parametrize(
    ("name", "gpus", "offered"),
    [("notebooks", T4, 4), ("serving", T4, 8), ("servingod", T4, 8), ("slices", SLICES, 14), ("train", A100, 1)],
)
def test_nodes_of_each_pool_offer_what_the_stack_file_says(name: str, gpus: Gpus, offered: int) -> None:
    (pool,) = (pool for pool in POOLS if pool.name == name)
    assert reported(pool, gpus, dict(pool.labels)) == {"nvidia.com/gpu": offered}


def test_a_node_offers_whole_gpus_until_its_label_has_come_and_mps_nothing_without_its_daemon() -> None:
    (pool,) = (pool for pool in POOLS if pool.name == "serving")
    assert reported(pool, T4, {}) == {"nvidia.com/gpu": 1}
    assert reported(pool, T4, dict(pool.labels), daemon=False) == {}
