"""Nodes that an emulated cloud removes: their pods are removed with them."""

from typing import Any

import pytest

from sandbox.cluster.control_plane import ControlPlane
from sandbox.kubernetes import node_objects
from sandbox.kubernetes.client import Client
from sandbox.tests.stack import until

pytestmark = pytest.mark.engine


def a_node(name: str) -> dict[str, Any]:
    resources = {"cpu": "4", "memory": "16Gi", "pods": "30"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "spec": {},
        "status": {"capacity": resources, "allocatable": resources},
    }


def a_pod(name: str, node: str) -> dict[str, Any]:
    spec = {"nodeName": node, "containers": [{"name": "main", "image": "example.com/main:1"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def test_a_new_node_of_the_same_name_has_no_pod_of_the_old_one(api_server: ControlPlane) -> None:
    with node_objects.opened(api_server.admin_kubeconfig) as client:
        both = [a_node("comes-again"), a_node("stays")]
        node_objects.apply(client, both)
        node_objects.await_ready(client, both)
        assert until(lambda: client.get("v1", "ServiceAccount", "default", "default") is not None)
        for node in ("comes-again", "stays"):
            client.apply(a_pod(f"on-{node}", node), "test")
            assert until(lambda pod=f"on-{node}": phase(client, pod) == "Running")
        node_objects.apply(client, [a_node("stays")])
        node_objects.apply(client, both)
        assert phase(client, "on-comes-again") == ""
        assert phase(client, "on-stays") == "Running"
        node_objects.apply(client, [])


def phase(client: Client, pod: str) -> str:
    """Return the phase of a pod; empty for a missing pod."""
    live = client.get("v1", "Pod", pod, "default")
    return live["status"]["phase"] if live else ""
