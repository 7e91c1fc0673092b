"""The pods of Argo's Workflows, played: what kubelets write into their status, and what the executor in them reports.

ENDINGS are the ways in which such a pod ends, what Argo makes of each, and whether the machine is the reason.

Sources: argo-workflows v3.7.3, cmd/argoexec/commands/wait.go (the container `wait` reports an unfinished WorkflowTaskResult at its
start and a finished one at its end); kubernetes 1.36.2, pkg/kubelet/nodeshutdown, pkg/kubelet/eviction, pkg/kubelet/lifecycle and
pkg/controller/podgc (phase, reason and message of a pod that a machine takes with it).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from drill.world.argo import VERSION
from sandbox.kubernetes.client import Client, Object
from sandbox.tests.stack import eventually

NAMESPACE = "default"
PAUSE = 0.1
"""Seconds between two looks."""
_WORKFLOW = "workflows.argoproj.io/workflow"
_COMPLETED = "workflows.argoproj.io/report-outputs-completed"
_AT = "2026-11-23T00:00:00Z"
_DISRUPTED = {"type": "DisruptionTarget", "status": "True", "lastTransitionTime": _AT}

State = Mapping[str, Any]
RUNNING: State = {"running": {"startedAt": _AT}}
WAITING: State = {"waiting": {"reason": "ContainerCreating"}}


def ended(code: int, reason: str = "", finished: str = _AT) -> State:
    """Return the state of a container that ended."""
    reason = reason or ("Error" if code else "Completed")
    return {"terminated": {"exitCode": code, "reason": reason, "startedAt": _AT, "finishedAt": finished}}


@dataclass(frozen=True)
class Steps:
    """All pods of Workflows in one namespace."""

    client: Client
    reports: bool = True
    """Whether the executor in the pods reports, as it may where Argo's rights for it are installed."""

    def pods(self, workflow: str) -> list[Object]:
        """Return the pods of a Workflow that exist, the oldest first."""
        found = self.client.list("v1", "Pod", NAMESPACE, f"{_WORKFLOW}={workflow}")
        return sorted(found, key=lambda pod: (pod["metadata"]["creationTimestamp"], pod["metadata"]["name"]))

    def run(self, pod: Object) -> Object:
        """Let a pod's containers run."""
        self._running(pod)
        self._report(pod, finished=False)
        return pod

    def _running(self, pod: Object) -> None:
        self._status(pod, "Running", {"main": RUNNING, "wait": RUNNING})

    def succeed(self, pod: Object, outputs: Mapping[str, str] | None = None) -> None:
        """End a pod's containers with 0; it returns these parameters."""
        self._report(pod, finished=True, outputs=outputs)
        self._status(pod, "Succeeded", {"main": ended(0), "wait": ended(0)})

    def fail(
        self, pod: Object, code: int, reason: str = "", *, told: bool = True, status_reason: str = "", message: str = ""
    ) -> None:
        """End the container `main` with a code; the executor reports its end, unless it was not `told` to end.

        `status_reason` and `message` are the pod's own.
        """
        if told:
            self._report(pod, finished=True)
        finished = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        own = {"reason": status_reason, "message": message} if message else {}
        self._status(
            pod,
            "Failed",
            {"main": ended(code, reason, finished), "wait": ended(0 if told else 137, "", finished)},
            **own,
        )

    def reject(self, pod: Object, reason: str, message: str) -> None:
        """Fail a pod as a kubelet does, which says why; there is no state of a container."""
        self._status(pod, "Failed", {}, reason=reason, message=message)

    def collect(self, pod: Object, state: State = RUNNING) -> None:
        """Fail a pod whose node is gone as the controller manager does: nobody changes the state of its containers."""
        self._status(
            pod, "Failed", {"main": state, "wait": state}, conditions=[{**_DISRUPTED, "reason": "DeletionByPodGC"}]
        )

    def evict(self, pod: Object) -> None:
        """Drain a pod's node: the executor reports its end, and the pod is gone before anybody sees more of it.

        Argo looks twice in one pass whether there is a pod (3.7.3, podReconciliation in operator.go and podExists in
        workflowpod.go). One that goes in between is made again, of the same name and as the same attempt (once in 80 on a busy
        machine): it is taken away as well.
        """
        self._report(pod, finished=True, outputs={"told": "yes"})
        # In reality `main` takes its time to end meanwhile; Argo sees the report before the pod is gone.
        eventually(lambda: self._seen(pod).get("outputs"), "Argo sees the report", 30, PAUSE)
        self.delete(pod)
        eventually(lambda: self._given_up(pod), "Argo gives the pod up", 30, PAUSE)

    def _given_up(self, pod: Object) -> bool:
        """Return whether Argo gave a pod up. One made again runs first: a pending one would only be made once more."""
        phase = self._seen(pod).get("phase")
        there = self.client.get("v1", "Pod", pod["metadata"]["name"], NAMESPACE) is not None
        if there and phase == "Pending":
            self._running(pod)
        elif there and phase == "Running":
            self.delete(pod)
        return phase == "Error"

    def _seen(self, pod: Object) -> Object:
        """Return what Argo knows of a pod."""
        workflow = self.client.get(VERSION, "Workflow", pod["metadata"]["labels"][_WORKFLOW], NAMESPACE)
        assert workflow is not None
        return node(workflow, pod)

    def delete(self, pod: Object) -> None:
        """Delete a pod at once."""
        self.client.delete("v1", "Pod", pod["metadata"]["name"], NAMESPACE, at_once=True)

    def _status(self, pod: Object, phase: str, states: Mapping[str, State], **rest: Any) -> None:
        # A merge keeps the old state of a container beside the new one, unless that is taken away.
        nothing: Object = {"running": None, "waiting": None, "terminated": None}
        containers = [
            {
                "name": name,
                "state": nothing | dict(state),
                "ready": "running" in state,
                "image": "",
                "imageID": "",
                "restartCount": 0,
            }
            for name, state in states.items()
        ]
        status = {"phase": phase, "containerStatuses": containers, **rest}
        self.client.patch("v1", "Pod", pod["metadata"]["name"], NAMESPACE, {"status": status}, "status")

    def _report(self, pod: Object, *, finished: bool, outputs: Mapping[str, str] | None = None) -> None:
        if not self.reports:
            return
        notes, labels = pod["metadata"]["annotations"], pod["metadata"]["labels"]
        body: Object = {
            "apiVersion": VERSION,
            "kind": "WorkflowTaskResult",
            "metadata": {
                "name": notes["workflows.argoproj.io/node-id"],
                "namespace": NAMESPACE,
                "labels": {_WORKFLOW: labels[_WORKFLOW], _COMPLETED: str(finished).lower()},
            },
        }
        if outputs:
            body["outputs"] = {"parameters": [{"name": name, "value": value} for name, value in outputs.items()]}
        self.client.apply(body, "argoexec", force=True)


def node(workflow: Object, pod: Object) -> Object:
    """Return the node of a Workflow that a pod is for; empty before the controller has written it."""
    nodes = (workflow.get("status") or {}).get("nodes") or {}
    found: Object = nodes.get(pod["metadata"]["annotations"]["workflows.argoproj.io/node-id"]) or {}
    return found


def task(pod: Object) -> str:
    """Return the name of the task that a pod of a pipeline is for."""
    return str(pod["metadata"]["annotations"]["piece"])


def counted(pods: Sequence[Object]) -> dict[str, int]:
    """Return the number of pods of each task."""
    found: dict[str, int] = {}
    for pod in pods:
        found[task(pod)] = found.get(task(pod), 0) + 1
    return found


SHUTDOWN = "Pod was terminated in response to imminent node shutdown."
"""kubernetes 1.36.2, pkg/kubelet/nodeshutdown/nodeshutdown_manager.go."""
FULL = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi."
"""pkg/kubelet/eviction/helpers.go."""
NO_GPU = "Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu"
"""pkg/kubelet/kubelet.go and pkg/kubelet/cm/devicemanager/manager.go: before the device plugin is back, say."""
TOO_LONG = "Pod was active on the node longer than the specified deadline"
"""pkg/kubelet/active_deadline.go."""


@dataclass(frozen=True)
class Ending:
    """One way."""

    end: Callable[[Steps, Object], None]
    phase: str
    message: str
    """Phase and message of Argo's node."""
    machine: bool
    """Whether the machine is the reason: then, and only then, the step starts again."""
    begun: bool = True
    """Whether its containers ran."""


ENDINGS: Mapping[str, Ending] = {
    "evicted": Ending(lambda steps, pod: steps.evict(pod), "Error", "pod deleted", True),
    "drained": Ending(lambda steps, pod: steps.fail(pod, 143), "Failed", "main: Error (exit code 143)", True),
    "killed": Ending(lambda steps, pod: steps.fail(pod, 137), "Failed", "main: Error (exit code 137)", True),
    "node-shutdown": Ending(
        lambda steps, pod: steps.fail(pod, 143, status_reason="Terminated", message=SHUTDOWN), "Failed", SHUTDOWN, True
    ),
    "node-full": Ending(
        lambda steps, pod: steps.fail(pod, 137, status_reason="Evicted", message=FULL), "Failed", FULL, True
    ),
    "rejected": Ending(
        lambda steps, pod: steps.reject(pod, "UnexpectedAdmissionError", NO_GPU), "Failed", NO_GPU, True, begun=False
    ),
    "not-begun": Ending(
        lambda steps, pod: steps.collect(pod, WAITING),
        "Error",
        "Pod failed before main container starts due to ContainerCreating: ",
        True,
        begun=False,
    ),
    "fails": Ending(lambda steps, pod: steps.fail(pod, 1), "Failed", "main: Error (exit code 1)", False),
    "out-of-memory": Ending(
        lambda steps, pod: steps.fail(pod, 137, "OOMKilled"), "Failed", "main: OOMKilled (exit code 137)", False
    ),
    "too-long": Ending(
        lambda steps, pod: steps.fail(pod, 143, status_reason="DeadlineExceeded", message=TOO_LONG),
        "Failed",
        TOO_LONG,
        False,
    ),
}
