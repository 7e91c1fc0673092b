"""Objects that an emulated cloud keeps in a real API server: nodes, and the manifests of its own add-ons."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sandbox.base.errors import SandboxError
from sandbox.kubernetes.client import Client, Object

_MANAGER = "sandbox-nodes"
_KUBELET = "kubelet"
AT_REGISTRATION = "atRegistration"
"""A key beside a node's `spec`: what its kubelet puts there once, and others may change."""
_READY_SECONDS = 60


@contextmanager
def opened(kubeconfig: Path) -> Iterator[Client]:
    """Yield a client that is closed afterwards."""
    client = Client(kubeconfig)
    try:
        yield client
    finally:
        client.close()


def apply(client: Client, nodes: list[Object]) -> set[str]:
    """Make the cluster's nodes exactly these; return those that joined long ago and were not Ready.

    A node reports its resources once, when it joins.
    """
    by_name = {node["metadata"]["name"]: node for node in nodes}
    present = {node["metadata"]["name"]: node for node in client.list("v1", "Node")}
    gone = present.keys() - by_name.keys()
    for name in sorted(gone):
        client.delete("v1", "Node", name)
    if gone:
        _collect_pods(client, gone)
    for name in sorted(by_name):
        node = by_name[name]
        keys = ["apiVersion", "kind", "metadata", "spec"]
        body = {key: node[key] for key in keys if key in node}
        if name not in present:
            # At once: otherwise the simulated kubelet sees a node without resources and reports none.
            body["status"] = node["status"]
            if once := node.get(AT_REGISTRATION):
                client.apply({**body, "spec": {**node["spec"], **once}}, _KUBELET, force=True)
        client.apply(body, _MANAGER, force=True)
        if name in present and (changed := changed_conditions(present[name], node)):
            client.patch_status("v1", "Node", name, {"conditions": changed})
    return {name for name, node in present.items() if not ready(node) and _age(node) > _READY_SECONDS}


def _age(node: Mapping[str, Any]) -> float:
    joined = datetime.fromisoformat(node["metadata"]["creationTimestamp"])
    return (datetime.now(UTC) - joined).total_seconds()


def changed_conditions(live: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[Object]:
    """Return the conditions of a node that are other than the cloud has them, with their new times."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    known = {condition["type"]: condition for condition in (live.get("status") or {}).get("conditions") or ()}
    return [
        {**condition, "lastTransitionTime": now, "lastHeartbeatTime": now}
        for condition in (wanted.get("status") or {}).get("conditions") or ()
        if any(known.get(condition["type"], {}).get(key) != condition[key] for key in ("status", "reason"))
    ]


def _collect_pods(client: Client, gone: Collection[str]) -> None:
    """Delete the pods of machines that are gone.

    Kubernetes' own collector of such pods (kubernetes.io, page pod-lifecycle, "Garbage collection of Pods") comes too late for a
    machine that is replaced under the same name: the new node would have them.
    """
    for pod in client.list("v1", "Pod"):
        if pod["spec"].get("nodeName") in gone:
            metadata = pod["metadata"]
            client.delete("v1", "Pod", metadata["name"], metadata["namespace"], at_once=True)


def await_ready(client: Client, nodes: list[Object]) -> None:
    """Wait until all of these nodes are Ready. Raises SandboxError."""
    names = {node["metadata"]["name"] for node in nodes}
    deadline = time.monotonic() + _READY_SECONDS
    waiting = names
    while waiting and time.monotonic() < deadline:
        waiting = names - {node["metadata"]["name"] for node in client.list("v1", "Node") if ready(node)}
        if waiting:
            time.sleep(0.2)
    if waiting:
        raise SandboxError(
            f"nodes not ready after {_READY_SECONDS} s: {', '.join(sorted(waiting))}; see logs/kwok.log of the cluster"
        )


def ready(node: Mapping[str, Any]) -> bool:
    """Return whether the node's Ready condition is True."""
    conditions = node.get("status", {}).get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


_MODE = "addonmanager.kubernetes.io/mode"
_ADDON_MANAGER = "addon-manager"
_SERVED_SECONDS = 30


def manifests_in(folder: Path) -> list[Object]:
    """Return the objects of every file in a folder, in the order of the files' names."""
    # Only here: an autoscaler's process never reads them.
    import yaml

    return [body for file in sorted(folder.glob("*.yaml")) for body in yaml.load(file.read_text(), yaml.CSafeLoader)]


def install_addons(client: Client, objects: Iterable[Object], manager: str) -> None:
    """Apply the objects as this field manager, and wait until new kinds are served. Raises SandboxError.

    An object of the mode EnsureExists is made where it is missing, and otherwise left as users changed it.
    """
    definitions = []
    for body in objects:
        kind, metadata = (body["apiVersion"], body["kind"]), body["metadata"]
        if metadata.get("labels", {}).get(_MODE) == "EnsureExists":
            if client.get(*kind, metadata["name"], metadata.get("namespace")) is None:
                client.apply(body, _ADDON_MANAGER)
            continue
        client.apply(body, manager, force=True)
        if body["kind"] == "CustomResourceDefinition":
            definitions.append(body)
    deadline = time.monotonic() + _SERVED_SECONDS
    for body in definitions:
        name = body["metadata"]["name"]
        while not _established(client.get(body["apiVersion"], body["kind"], name) or {}):
            if time.monotonic() > deadline:
                raise SandboxError(f"{name} is not served after {_SERVED_SECONDS} s")
            time.sleep(0.05)


def _established(definition: Object) -> bool:
    conditions = definition.get("status", {}).get("conditions") or []
    return any(condition["type"] == "Established" and condition["status"] == "True" for condition in conditions)
