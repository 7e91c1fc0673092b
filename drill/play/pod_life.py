"""The life of a pod in a drill: its record, its work, its containers and its statuses."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from drill.world import record as records
from sandbox.kubernetes.client import Object


@dataclass
class Life:
    """A pod, its record, and the work that it does."""

    pod: Object
    record: records.Pod
    work: records.Work | None
    needs: float | None = None
    checkpoint: float | None = None
    """Seconds of work between two checkpoints."""
    save: float | None = None
    """Seconds of a save after SIGTERM; None for a pod that goes back to its last checkpoint."""
    told: float | None = None
    """The time of its SIGTERM."""
    ending: records.PodEnd | None = None
    """The reason why it is about to end."""
    tokens: int = 0

    def saved_at(self, now: float) -> float | None:
        """Return the time up to which work is saved since SIGTERM; None if it is not."""
        if self.told is None or self.save is None or now < self.told + self.save:
            return None
        return self.told

    @property
    def node(self) -> str:
        """The name of its node in the cluster; empty without one."""
        return self.pod["spec"].get("nodeName") or ""


class Executor(Protocol):
    """What runs in place of the containers of pods that work, such as a real process.

    `uid` is the pod's; `done` is the share of its work that is done by the drill's clock.
    """

    def start(self, uid: str, pod: Object) -> None:
        """Start the container."""

    def end(self, uid: str, done: float, *, noticed: bool) -> None:
        """Kill the container; tell it to end first if it is noticed."""

    def finish(self, uid: str) -> int:
        """Let the container end by itself, and return its exit code."""


class Nothing:
    """An executor without processes: work is done when its time is over."""

    def start(self, uid: str, pod: Object) -> None:
        """Start nothing."""

    def end(self, uid: str, done: float, *, noticed: bool) -> None:
        """End nothing."""

    def finish(self, uid: str) -> int:
        """Return 0: the work is done."""
        return 0


_PHASES = ("PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready")


def running_status(pod: Object) -> dict[str, Any]:
    """Return the status of a pod whose containers run, as a kubelet reports it."""
    return {
        "phase": "Running",
        "startTime": real_time(),
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": real_time()} for kind in _PHASES
        ],
        "containerStatuses": _containers(pod, {"running": {"startedAt": real_time()}}, ready=True),
    }


def ended_status(
    pod: Object, phase: str, code: int, reason: str, condition: Object | None = None
) -> dict[str, Any]:
    """Return the status of a pod whose containers ended with this code."""
    times = {"startedAt": real_time(), "finishedAt": real_time()}
    state = {"running": None, "terminated": {"exitCode": code, "reason": reason, **times}}
    changed = {"lastTransitionTime": real_time()}
    not_ready = {"status": "False", "reason": f"Pod{reason}", **changed}
    conditions = [{"type": kind, **not_ready} for kind in ("ContainersReady", "Ready")]
    return {
        "phase": phase,
        "conditions": [*conditions, *([{**condition, **changed}] if condition else [])],
        "containerStatuses": _containers(pod, state, ready=False),
    }


def _containers(pod: Object, state: Object, *, ready: bool) -> list[Object]:
    common = {"imageID": "", "restartCount": 0, "ready": ready, "state": state}
    return [
        {"name": each["name"], "image": each["image"], **common}
        for each in pod["spec"]["containers"]
    ]


def real_time() -> str:
    """Return a time long ago, so that no real controller waits for its own clock."""
    return (datetime.now(UTC) - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
