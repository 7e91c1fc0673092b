"""Discovery of the contents of a cluster, on a real API server."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest
import yaml

from components.layer import discovery
from components.layer.gpu import existing_plugins
from sandbox.cluster.control_plane import ControlPlane
from sandbox.kubernetes.client import Client

pytestmark = pytest.mark.engine


def test_a_real_api_server_shows_its_device_plugins_to_users_with_the_right(api_server: ControlPlane) -> None:
    plane, client = api_server, Client(api_server.admin_kubeconfig)
    labels = {"app": "nvidia-device-plugin"}
    pod = {
        "nodeSelector": {"gpu": "yes"},
        "containers": [{"name": "c", "image": "nvcr.io/nvidia/k8s-device-plugin:1"}],
    }
    daemon_set: dict[str, Any] = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "gpus", "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}},
    }
    expander: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "cluster-autoscaler-priority-expander", "namespace": "kube-system"},
        "data": {"priorities": "10:\n- .*\n"},
    }
    try:
        before = discovery.read_contents(plane.user_kubeconfig(), "cloud.kubeconfig")
        assert (before.version, before.daemon_sets, before.policies, before.expander) == ("1.36.2", (), (), None)
        for body in (daemon_set, expander):
            client.create(body)
        contents = discovery.read_contents(plane.user_kubeconfig(), "cloud.kubeconfig")
        (plugin,) = existing_plugins.plugins(contents.daemon_sets, contents.policies, "dev")
        assert (str(plugin), plugin.pod["nodeSelector"]) == ("default/gpus", {"gpu": "yes"})
        assert contents.expander
        assert contents.expander["data"] == {"priorities": "10:\n- .*\n"}
        nobody = yaml.safe_load(plane.user_kubeconfig())
        nobody["users"][0]["user"] = {"token": "wrong"}
        with pytest.raises(pulumi.RunError, match="401 Unauthorized"):
            discovery.read_contents(yaml.safe_dump(nobody), "cloud.kubeconfig")
    finally:
        for body in (daemon_set, expander):
            client.delete(body["apiVersion"], body["kind"], body["metadata"]["name"], body["metadata"]["namespace"])
        client.close()
