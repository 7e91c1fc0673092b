"""Pods of the namespace default in a stack's cluster."""

import json
from typing import Any

from sandbox.tests.stack import Stack, until


def run_pod(stack: Stack, name: str, **spec: Any) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "main", "image": "example.com/train:1"}], **spec},
    }
    _apply(stack, pod)


def _apply(stack: Stack, body: dict[str, Any]) -> None:
    path = stack.project.parent / f"{body['metadata']['name']}.json"
    path.write_text(json.dumps(body))
    stack.kubectl("apply", "-f", str(path))


def node_of(stack: Stack, pod: str) -> str:
    return str(stack.get("pod", pod)["spec"].get("nodeName", ""))


def unschedulable(stack: Stack, pod: str) -> str:
    conditions = stack.get("pod", pod)["status"].get("conditions", [])
    return next((str(c["message"]) for c in conditions if c.get("reason") == "Unschedulable"), "")


def notebook(stack: Stack, pool: str) -> str:
    """Run a StatefulSet on a pool, as the notebook controller does; return the node of its pod."""
    spec = {
        "nodeSelector": {"kubeflow-spot.dev/pool": pool},
        "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": "main", "image": "example.com/notebook:1"}],
    }
    labels = {"notebook": pool}
    made = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": f"nb-{pool}", "namespace": "default"},
        "spec": {
            "serviceName": "nb",
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
    _apply(stack, made)
    assert until(lambda: _runs(stack, pool))
    return str(stack.get("pod", f"nb-{pool}-0")["spec"]["nodeName"])


def _runs(stack: Stack, pool: str) -> bool:
    """Return whether the pool's notebook runs."""
    pods = stack.get("pods", "-l", f"notebook={pool}")["items"]
    return any(pod["status"].get("phase") == "Running" for pod in pods)
