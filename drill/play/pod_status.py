"""Statuses of pods, as a kubelet reports them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sandbox.kubernetes.client import Object


def ended(pod: Object, phase: str, code: int, reason: str) -> dict[str, Any]:
    """Return the status of a pod whose containers ended with this code."""
    state = {
        "running": None,
        "terminated": {
            "exitCode": code,
            "reason": reason,
            "startedAt": real_time(),
            "finishedAt": real_time(),
        },
    }
    return {
        "phase": phase,
        "conditions": [
            {
                "type": kind,
                "status": "False",
                "reason": f"Pod{reason}",
                "lastTransitionTime": real_time(),
            }
            for kind in ("ContainersReady", "Ready")
        ],
        "containerStatuses": containers(pod, state, ready=False),
    }


def containers(pod: Object, state: Object, *, ready: bool) -> list[Object]:
    """Return the statuses of all containers of a pod, in one state."""
    return [
        {
            "name": each["name"],
            "image": each["image"],
            "imageID": "",
            "restartCount": 0,
            "ready": ready,
            "state": state,
        }
        for each in pod["spec"]["containers"]
    ]


def real_time() -> str:
    """Return a time for the real controllers: long ago, so that none of them waits for seconds of its own clock to pass."""
    return (datetime.now(UTC) - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
