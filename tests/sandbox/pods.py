"""Pods of the namespace default in a stack's cluster."""

from __future__ import annotations

import json
from typing import Any

from tests.sandbox.stack import Stack


def run_pod(stack: Stack, name: str, **spec: Any) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "main", "image": "example.com/train:1"}], **spec},
    }
    path = stack.project.parent / f"{name}.json"
    path.write_text(json.dumps(pod))
    stack.kubectl("apply", "-f", str(path))


def node_of(stack: Stack, pod: str) -> str:
    return str(stack.get("pod", pod)["spec"].get("nodeName", ""))


def unschedulable(stack: Stack, pod: str) -> str:
    conditions = stack.get("pod", pod)["status"].get("conditions", [])
    return next((str(c["message"]) for c in conditions if c.get("reason") == "Unschedulable"), "")
