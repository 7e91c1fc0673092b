"""Discovery of the contents of a cluster, on a real API server."""

import json
import subprocess
from typing import Any

import pulumi
import pytest
import yaml

from components.layer import discovery
from components.layer.gpu import existing_plugins
from sandbox.cluster.control_plane import ControlPlane
from sandbox.toolchain.programs import ensure

Answer = tuple[int, dict[str, Any] | str]
VERSION = {"gitVersion": "v1.36.2"}
EXPANDER = "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-priority-expander"
CONTRACT = "/api/v1/namespaces/kube-public/configmaps/kubeflow-spot"

pytestmark = pytest.mark.engine


def test_a_real_api_server_shows_its_device_plugins_to_users_with_the_right(api_server: ControlPlane) -> None:
    kubectl, plane = ensure(["kubectl"], print)["kubectl"], api_server
    command = [str(kubectl), f"--kubeconfig={plane.admin_kubeconfig}"]
    try:
        before = discovery.read_contents(plane.user_kubeconfig(), "cloud.kubeconfig")
        assert (before.version, before.daemon_sets, before.policies, before.expander) == ("1.36.2", (), (), None)
        labels = {"app": "nvidia-device-plugin"}
        pod = {
            "nodeSelector": {"gpu": "yes"},
            "containers": [{"name": "c", "image": "nvcr.io/nvidia/k8s-device-plugin:1"}],
        }
        daemon_set = {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "gpus", "namespace": "default"},
            "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}},
        }
        expander = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "cluster-autoscaler-priority-expander", "namespace": "kube-system"},
            "data": {"priorities": "10:\n- .*\n"},
        }
        objects = {"apiVersion": "v1", "kind": "List", "items": [daemon_set, expander]}
        subprocess.run(
            [*command, "create", "-f", "-"], input=json.dumps(objects), text=True, check=True, capture_output=True
        )
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
        created = (
            ("daemonset/gpus", "--namespace=default"),
            ("configmap/cluster-autoscaler-priority-expander", "-n", "kube-system"),
        )
        for name in created:
            subprocess.run([*command, "delete", "--ignore-not-found", *name], check=True, capture_output=True)
