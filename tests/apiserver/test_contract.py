"""The contract, the quotas of profiles, and the discovery of a cluster's contents on a real API server."""

import subprocess
from typing import Any

import pulumi
import pytest
import yaml

from components.layer import discovery, names
from components.layer.gpu import existing_plugins
from components.layer.scheduling import contract, quota
from components.resources import wire
from config.model.scheduling import Profile
from config.placement.contract import snippets
from sandbox.cluster.control_plane import ControlPlane
from sandbox.kubernetes.client import ApiError, Client
from sandbox.toolchain.programs import ensure
from tests.components.test_contract import node_pools
from tests.config.stack import good

pytestmark = pytest.mark.engine


def test_on_a_real_api_server_only_readers_read_the_contract_its_lines_are_accepted_and_the_quota_counts_gpus(
    api_server: ControlPlane,
) -> None:
    kubectl = ensure(["kubectl"], print)["kubectl"]
    client = Client(api_server.admin_kubeconfig)
    try:
        pools = node_pools(good()["pools"])
        data = contract.data("r2026-11", pools)
        labels = names.labels("dev")
        metadata = {"name": "kubeflow-spot", "namespace": "kube-public", "labels": labels}
        role, binding = wire(contract.access("kubeflow-spot", ("ml-engineers",), "dev"))
        rbac = {"apiVersion": "rbac.authorization.k8s.io/v1"}
        ((_, limit),) = quota.quotas((Profile(namespace="team-a", gpus=1),), "dev")
        team = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}
        for body in (
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data},
            {**team, "metadata": {"name": "kube-public"}},
            {**rbac, "kind": "Role", **role},
            {**rbac, "kind": "RoleBinding", **binding},
            team,
            {"apiVersion": "v1", "kind": "ResourceQuota", **wire(limit)},
        ):
            client.apply(body, "test")

        def may(verb: str, name: str, user: str, *groups: str) -> bool:
            command = [kubectl, f"--kubeconfig={api_server.admin_kubeconfig}", "auth", "can-i", "--quiet"]
            impersonation = [f"--as={user}", *(f"--as-group={group}" for group in groups)]
            question = [*command, verb, f"configmaps/{name}", "--namespace=kube-public", *impersonation]
            return subprocess.run(question, check=False).returncode == 0

        account = ("system:serviceaccount:team-a:default-editor", "system:serviceaccounts", "system:authenticated")
        assert may("get", "kubeflow-spot", *account)
        assert may("get", "kubeflow-spot", "ann", "ml-engineers", "system:authenticated")
        assert not may("get", "kubeflow-spot", "bob", "system:authenticated")
        assert not may("get", "kubeflow-spot", "system:anonymous", "system:unauthenticated")
        assert not may("get", "another", *account)
        for verb in ("list", "watch", "update", "patch", "delete"):
            assert not may(verb, "kubeflow-spot", *account), verb

        for name, lines in snippets(pools).items():
            client.apply(pod(name, lines), "test", dry_run=True)
        client.apply(pod("one", {}, gpus=1), "test")
        with pytest.raises(ApiError, match=r"exceeded quota: kubeflow-spot-dev-gpus.*requests.nvidia.com/gpu=1"):
            client.apply(pod("two", {}, gpus=1), "test")
        client.apply(pod("without", {}), "test")
        # Each way to ask for a GPU is counted for itself.
        client.apply(claim("first"), "test")
        with pytest.raises(ApiError, match=r"exceeded quota: .*gpu.nvidia.com.deviceclass.resource.k8s.io/devices=1"):
            client.apply(claim("second"), "test")
        with pytest.raises(ApiError, match=r"exceeded quota: .*deviceclass.resource.kubernetes.io/mig.nvidia.com=2"):
            client.apply(pod("three", {}, gpus=2, resource="deviceclass.resource.kubernetes.io/mig.nvidia.com"), "test")
    finally:
        client.delete("v1", "Namespace", "team-a")
        client.delete("v1", "ConfigMap", "kubeflow-spot", "kube-public")
        for kind in ("Role", "RoleBinding"):
            client.delete("rbac.authorization.k8s.io/v1", kind, names.object_name("dev", contract.ROLE), "kube-public")
        client.close()


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


def claim(name: str) -> dict[str, Any]:
    """Return a ResourceClaim for one GPU."""
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}
    spec = {"devices": {"requests": [request]}}
    metadata = {"name": name, "namespace": "team-a"}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": spec}


def pod(name: str, lines: dict[str, Any], gpus: int = 0, resource: str = "nvidia.com/gpu") -> dict[str, Any]:
    container: dict[str, Any] = {"name": "c", "image": "c"}
    if gpus:
        container["resources"] = {"limits": {resource: str(gpus)}}
    spec = {"containers": [container], "automountServiceAccountToken": False, "serviceAccountName": "default", **lines}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "team-a"}, "spec": spec}
