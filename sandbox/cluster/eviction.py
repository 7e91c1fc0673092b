"""The end of a spot machine's pods: drained by the cloud, or ended by a kubelet that shuts its node down.

The facts of the cloud say which, and how long each pod has. Pods of DaemonSets stay on their node to its end.
"""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from sandbox.cloud.spot_nodes import SpotFacts
from sandbox.kubernetes.client import Client, Object

_CRITICAL = ("system-cluster-critical", "system-node-critical")
_TERMINATED = 143
"""The exit code of a process that heeds SIGTERM."""
_DEFAULT_GRACE = 30
"""Kubernetes' default of terminationGracePeriodSeconds."""


def report(client: Client, nodes: Collection[str], facts: SpotFacts, deadline: str) -> None:
    """Write the events of nodes under notice."""
    now = datetime.now(UTC)
    message = facts.condition.as_object(deadline)["message"]
    for node in nodes:
        for reason in facts.events:
            name = f"{node}.{reason.lower()}.{int(now.timestamp()):x}"
            stamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")
            body = {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": name, "namespace": "default"},
                "involvedObject": {"kind": "Node", "name": node, "uid": node},
                "reason": reason,
                "message": message,
                "type": "Warning",
                "source": {
                    "component": "node-problem-detector" if facts.pods == "deleted" else "kubelet",
                    "host": node,
                },
                "firstTimestamp": stamp,
                "lastTimestamp": stamp,
                "count": 1,
            }
            client.apply(body, "sandbox-spot")


def pods_of(client: Client, nodes: Collection[str]) -> list[Object]:
    """Return the pods that an eviction of these nodes ends, none of which has ended by itself."""
    return [pod for pod in client.list("v1", "Pod") if pod["spec"].get("nodeName") in nodes and _ends(pod)]


def _ends(pod: Object) -> bool:
    owners = {owner["kind"] for owner in pod["metadata"].get("ownerReferences") or ()}
    return (pod.get("status") or {}).get("phase") in ("Pending", "Running") and not owners & {"DaemonSet", "Node"}


def critical(pod: Object) -> bool:
    """Return whether a pod is one of the system's, which a kubelet ends last."""
    return pod["spec"].get("priorityClassName") in _CRITICAL


def grace(pod: Object, facts: SpotFacts) -> int:
    """Return the seconds from SIGTERM to the end that a pod gets: its own, at most the cloud's."""
    own = pod["spec"].get("terminationGracePeriodSeconds")
    longest = facts.critical_grace if critical(pod) else facts.grace
    return int(min(_DEFAULT_GRACE if own is None else own, longest))


def drain(client: Client, pods: Collection[Object], facts: SpotFacts) -> list[Object]:
    """Ask for the eviction of pods; those that a disruption budget holds, which may be asked for again."""
    held = []
    for pod in pods:
        if pod["metadata"].get("deletionTimestamp"):
            continue
        metadata = pod["metadata"]
        if not client.evict(metadata["name"], metadata["namespace"], grace(pod, facts)):
            held.append(pod)
    return held


def shut_down(client: Client, pods: Collection[Object], facts: SpotFacts) -> None:
    """End pods as the kubelet of a node that shuts down: they stay, failed (kubernetes.io, page node-shutdown)."""
    for pod in pods:
        metadata = pod["metadata"]
        client.patch_status("v1", "Pod", metadata["name"], ended(pod, facts), metadata["namespace"])


def ended(pod: Object, facts: SpotFacts) -> dict[str, Any]:
    """Return the status of a pod that a kubelet has ended."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    start = (pod.get("status") or {}).get("startTime") or now
    conditions = [
        {"type": kind, "status": "False", "reason": "PodFailed", "lastTransitionTime": now}
        for kind in ("ContainersReady", "Ready")
    ]
    containers = [
        {
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "restartCount": 0,
            "ready": False,
            "started": False,
            "state": {
                "running": None,
                "terminated": {"exitCode": _TERMINATED, "reason": "Error", "startedAt": start, "finishedAt": now},
            },
        }
        for container in pod["spec"]["containers"]
    ]
    return {
        "phase": "Failed",
        "reason": "Terminated",
        "message": facts.disruption.message,
        "conditions": [*conditions, {**facts.disruption.as_object(), "lastTransitionTime": now}],
        "containerStatuses": containers,
    }
