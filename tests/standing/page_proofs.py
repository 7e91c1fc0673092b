"""What pages of docs/tasks promise and their own commands do not show, by page."""

import json
import shlex
from collections.abc import Callable
from typing import Any

import pytest

from sandbox.tests.api import Api, Refused
from sandbox.tests.stack import Standing, until


def pod(name: str, gpus: str) -> dict[str, Any]:
    container = {"name": "main", "image": "example.com/train:1", "resources": {"limits": {"nvidia.com/gpu": gpus}}}
    spec = {"restartPolicy": "Never", "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "team-a"}, "spec": spec}


def runs_on_spot(stack: Standing, label: str, name: str, spec: dict[str, Any]) -> None:
    """Show that a pod with the label of the exception lands on spot, and that one without is refused."""
    stack.run("scale", "t4", "1")
    for each, refused in ((name, False), ("other", True)):
        metadata = {"name": each, "namespace": "team-a", "labels": {label: each}}
        path = stack.project.parent / "pod.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}))
        stack.kubectl(*shlex.split(f"create -f {path}"), ok=not refused)
    assert until(lambda: "-t4-" in stack.get("pod", name, "-n", "team-a")["spec"].get("nodeName", ""))


def notebook_runs_on_spot(stack: Standing) -> None:
    """Show it for the notebook's pod, as its controller makes it."""
    template = json.loads(stack.kubectl("get", "notebook", "-n", "team-a", "cheap", "-o", "json"))["spec"]["template"]
    runs_on_spot(stack, "notebook-name", "cheap", template["spec"])


def predictor_runs_on_spot(stack: Standing) -> None:
    """Show it for a predictor's pod, with the placement and the model's resources of its InferenceService."""
    service = json.loads(stack.kubectl("get", "inferenceservice", "-n", "team-a", "model", "-o", "json"))
    predictor = service["spec"]["predictor"]
    container = {
        "name": "kserve-container",
        "image": "example.com/server:1",
        "resources": predictor["model"]["resources"],
    }
    placement = {key: predictor[key] for key in ("affinity", "tolerations")}
    runs_on_spot(stack, "serving.kserve.io/inferenceservice", "model", {"containers": [container], **placement})


def work_displaces_the_placeholder(stack: Standing) -> None:
    """Show that the placeholder holds a spot node, that work takes it at once, and that another node comes."""

    def node(namespace: str) -> str:
        return stack.kubectl("get", "pods", "-n", namespace, "-o", "jsonpath={.items[*].spec.nodeName}", *WAITS)

    try:
        on_spot = until(lambda: "-t4-" in node("warm"), 240)
        (log,) = stack.home.rglob("autoscaler.log")
        seen = stack.kubectl("get", "pods,nodes,daemonsets", "-A") + log.read_text()[-2000:]
        assert on_spot, stack.kubectl("get", "events", "-n", "kube-system") + seen
        held = node("warm")
        assert "Failed" not in stack.kubectl("get", "pods", "-n", "warm")
        work = pod("work", "1")
        work["metadata"]["labels"] = {"kubeflow-spot.dev/placement": "prefer-spot"}
        path = stack.project.parent / "work.json"
        path.write_text(json.dumps(work))
        stack.kubectl("create", "-f", str(path))
        assert until(lambda: stack.get("pod", "work", "-n", "team-a")["spec"].get("nodeName") == held)
        assert until(lambda: "-t4-" in node("warm") and node("warm") != held, 240)
    finally:
        stack.kubectl("delete", "namespace", "warm")
        stack.kubectl("delete", "priorityclass", "placeholder")


def teams_share_one_cohort(stack: Standing) -> None:
    """Show that the two parts together are all spot GPUs, and that nobody can take more."""
    listed = json.loads(stack.kubectl("get", "clusterqueue", "team-a", "team-b", "-o", "json"))["items"]
    stack.kubectl("delete", "clusterqueue", "team-a", "team-b")
    stack.kubectl("delete", "namespace", "team-b")
    queues = [queue["spec"] for queue in listed]
    parts = [queue["resourceGroups"][0]["flavors"][1]["resources"][3] for queue in queues]
    assert {queue["cohort"] for queue in queues} == {"teams"}
    total = sum(int(part["nominalQuota"]) for part in parts)
    assert all(int(part["nominalQuota"]) + int(part["borrowingLimit"]) <= total for part in parts)


def plugin_outlives_the_sharing(stack: Standing) -> None:
    """Show that the device plugin's pods may be made when no pool shares GPUs any more."""
    settings = stack.config
    settings["pools"] = [pool for pool in settings["pools"] if "gpuSharing" not in pool]
    stack.write(settings)
    stack.run("up")
    plugin = stack.get("daemonset", f"kubeflow-spot-{stack.name}-device-plugin", "-n", "kube-system")
    account = plugin["spec"]["template"]["spec"]["serviceAccountName"]
    assert f"serviceaccount/{account}" in stack.kubectl("get", "serviceaccounts", "-n", "kube-system", "-o", "name")


def quotas_hold_side_by_side(stack: Standing) -> None:
    """Show that the profile's quota stands beside the stack's, and that a pod without requests needs the page's defaults."""
    quota = json.loads(stack.kubectl("get", "profile", "team-a", "-o", "json"))["spec"]["resourceQuotaSpec"]
    # As Kubeflow's profile controller makes it (KFQUOTA in profile_controller.go).
    metadata = {"name": "kf-resource-quota", "namespace": "team-a"}
    bare = pod("bare", "0")
    del bare["spec"]["containers"][0]["resources"]
    api = Api(stack._plane())
    try:
        api.create({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": quota})
        assert until(
            lambda: "hard" in stack.get("resourcequota", "kf-resource-quota", "-n", "team-a").get("status", {})
        )
        names = stack.kubectl("get", "resourcequota", "-n", "team-a", "-o", "name")
        assert f"resourcequota/kubeflow-spot-{stack.name}-gpus" in names
        (container,) = api.create(bare)["spec"]["containers"]
        assert container["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi"}
        stack.kubectl("delete", "limitrange", "requests", "-n", "team-a")
        bare["metadata"]["name"] = "without"
        with pytest.raises(Refused, match=r"must specify requests\.cpu"):
            api.create(bare)
    finally:
        api.close()


WAITS = ("--field-selector", "status.phase!=Failed")
"""A displaced pod stays as Failed."""

PROVEN: dict[str, Callable[[Standing], object]] = {
    "new-team": quotas_hold_side_by_side,
    "notebook-on-spot": notebook_runs_on_spot,
    "serve-a-model": predictor_runs_on_spot,
    "share-gpus-between-teams": teams_share_one_cohort,
    "share-gpu": plugin_outlives_the_sharing,
    "warm-node": work_displaces_the_placeholder,
}
"""What a page promises and its own commands do not show."""
