"""The kubelets of a drill: pods' lives on their nodes by the drill's clock, and the work that they do.

Images are there after a few seconds. A Job's pod works for as long as its annotation says, less what an earlier pod of the same
work has saved: at its checkpoints, and after SIGTERM where its grace is long enough for that (docs/checkpoints.md).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from drill.play import pod_status
from drill.play.clock import Clock
from drill.play.executor import Executor, Nothing
from drill.play.life import Life
from drill.play.observed import Observed, controller
from drill.world import record as records
from drill.world.workloads import CHECKPOINT, GPUS, INDEX, PIECE, ROLE, RUN_FOR, SAVE, SPOT, WORK
from sandbox.kubernetes.client import Client, Object

START = 5.0
"""Seconds from the binding of a pod until it runs. Assumed: the image is on the node, or small."""
STOP = 2.0
"""Seconds in which a pod heeds SIGTERM. Assumed."""
LEAST = 1.0
"""Seconds that a container runs at least: one that finds all its work done ends. Assumed."""
# Kubernetes' pkg/controller/podgc: a pod on a node that is gone. Recorded: 56 s from the node's end to the pod's.
COLLECTED = 56.0

_DISRUPTED = {"type": "DisruptionTarget", "status": "True"}


@dataclass
class Kubelets:
    """All nodes' kubelets."""

    clock: Clock
    observed: Observed
    pools: dict[str, str]
    """Pool by node."""
    reach: Callable[[Object], tuple[str, ...]]
    """The pools that a pod's selectors allow, whatever it tolerates."""
    lives: dict[str, Life] = field(default_factory=dict)
    pods: list[records.Pod] = field(default_factory=list)
    work: dict[str, records.Work] = field(default_factory=dict)
    progress: dict[str, float] = field(default_factory=dict)
    """Seconds of work that are saved."""
    leaving: dict[str, records.PodEnd] = field(default_factory=dict)
    """Nodes that pods are leaving, and why."""
    on_node: dict[str, set[str]] = field(default_factory=dict)
    """Pods by node."""
    names: dict[str, str] = field(default_factory=dict)
    """The names of nodes in the record, where they have others there."""
    silent: dict[str, list[Callable[[], None]]] = field(default_factory=dict)
    """Nodes whose kubelet does not answer, with all that it does when it answers again."""
    executor: Executor = field(default_factory=Nothing)
    """What runs in place of the containers of pods that work."""

    def answer(self, node: str) -> None:
        """A silent kubelet answers again."""
        for action in self.silent.pop(node, []):
            action()

    def _waits(self, uid: str, action: Callable[[], None]) -> bool:
        life = self.lives.get(uid)
        waiting = self.silent.get(life.node) if life else None
        if waiting is not None:
            waiting.append(action)
        return waiting is not None

    def work_on(self, node: str) -> list[str]:
        """The work that goes on on a node."""
        lives = (self.lives[uid].record for uid in self.on_node.get(node, ()))
        return sorted(life.work for life in lives if life.ended is None and life.work)

    def seen(self, before: Object | None, pod: Object | None) -> None:
        """A pod is new, changed, or gone."""
        if pod is None:
            assert before is not None
            self._gone(before["metadata"]["uid"])
            return
        uid = pod["metadata"]["uid"]
        if uid not in self.lives:
            self.lives[uid] = self._life(pod)
            if self.lives[uid].record.role and not of_daemon_set(pod):
                self.pods.append(self.lives[uid].record)
        life = self.lives[uid]
        was_bound = life.pod["spec"].get("nodeName") if before else None
        was_leaving = bool(before and life.pod["metadata"].get("deletionTimestamp"))
        life.pod = pod
        node = pod["spec"].get("nodeName")
        if node and not was_bound:
            life.record.bound, life.record.node = self.clock.now, self.names.get(node, node)
            life.record.pool = self.pools.get(node, "")
            self.on_node.setdefault(node, set()).add(uid)
            self.clock.after(START, lambda: self._start(uid))
        if pod["metadata"].get("deletionTimestamp") and not was_leaving:
            grace = float(pod["metadata"].get("deletionGracePeriodSeconds") or 0)
            self.clock.after(self.tell(uid, grace) if node else 0.0, lambda: self._stop(uid))

    def _life(self, pod: Object) -> Life:
        metadata = pod["metadata"]
        notes: dict[str, str] = metadata.get("annotations") or {}
        owner = controller(pod)
        work_name = notes.get(WORK, "")
        if work_name and (piece := notes.get(INDEX) or notes.get(PIECE)):
            work_name += f"/{piece}"
        own = records.Pod(
            name=f"{metadata['namespace']}/{metadata['name']}",
            work=work_name,
            role=notes.get(ROLE, "platform"),  # type: ignore[arg-type]
            kind=owner["kind"] if owner else "Pod",
            gpus=int(notes.get(GPUS, "0")),
            spot=SPOT in notes,
            created=self.clock.now,
            reach=self.reach(pod),
        )
        life = Life(pod, own, self.work.get(work_name))
        if RUN_FOR in notes:
            life.needs = float(notes[RUN_FOR])
            life.checkpoint = float(notes[CHECKPOINT]) if CHECKPOINT in notes else None
            life.save = float(notes[SAVE]) if SAVE in notes else None
            self.progress.setdefault(work_name, 0.0)
        return life

    def tell(self, uid: str, grace: float) -> float:
        """Send SIGTERM to a pod; return the seconds until it has ended by itself, or is killed after its grace."""
        life = self.lives[uid]
        if life.told is None:
            life.told = self.clock.now
        return min(grace, STOP if life.save is None else life.save)

    def alive(self, uid: str) -> Life | None:
        """A pod that is on a node and has not ended."""
        life = self.lives.get(uid)
        return life if life and life.record.ended is None else None

    def _start(self, uid: str) -> None:
        life = self.alive(uid)
        if (
            life is None
            or life.pod["metadata"].get("deletionTimestamp")
            or life.node not in self.pools
        ):
            return
        if self._waits(uid, lambda: self._start(uid)):
            return
        life.record.started = self.clock.now
        status = {
            "phase": "Running",
            "startTime": pod_status.real_time(),
            "conditions": [
                {"type": kind, "status": "True", "lastTransitionTime": pod_status.real_time()}
                for kind in ("PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready")
            ],
            "containerStatuses": pod_status.containers(
                life.pod, {"running": {"startedAt": pod_status.real_time()}}, ready=True
            ),
        }
        self._status(life.pod, status)
        if life.needs is not None:
            life.tokens += 1
            token = life.tokens
            remaining = max(LEAST, life.needs - self.progress[life.record.work])
            self.clock.after(remaining, lambda: self._finish(uid, token))
            self.executor.start(uid, life.pod)

    def _finish(self, uid: str, token: int) -> None:
        life = self.alive(uid)
        if (
            life is None
            or life.tokens != token
            or self._waits(uid, lambda: self._finish(uid, token))
        ):
            return
        code = self.executor.finish(uid)
        self._end(life, "failed" if code else "succeeded")
        if life.work and not code:
            life.work.times += 1
            life.work.finished = (
                life.work.finished if life.work.finished is not None else self.clock.now
            )
        self._status(
            life.pod,
            pod_status.ended(
                life.pod, *(("Failed", code, "Error") if code else ("Succeeded", 0, "Completed"))
            ),
        )

    def _stop(self, uid: str) -> None:
        """A pod that was asked to end has ended."""
        life = self.lives.get(uid)
        if life is None or self._waits(uid, lambda: self._stop(uid)):
            return
        if life.record.ended is None:
            self._end(life, self._why(life))
        self._delete(life.pod)

    def terminate(self, uid: str, condition: Object) -> None:
        """A kubelet that shuts down ends a pod, which stays as a failed one."""
        life = self.alive(uid)
        if life is None or life.node in self.silent:
            return
        self._end(life, "evicted")
        status = pod_status.ended(life.pod, "Failed", 143, "Terminated")
        condition = {**condition, "lastTransitionTime": pod_status.real_time()}
        # The pod's own message is the condition's (kubernetes, pkg/kubelet/nodeshutdown): Argo looks at it before all else.
        own = {"reason": "Terminated", "message": condition.get("message", "")}
        self._status(life.pod, {**status, **own, "conditions": [*status["conditions"], condition]})

    def lost(self, node: str) -> None:
        """A machine is gone with all that ran on it; its pods are collected some time later."""
        self.pools.pop(node, None)
        self.silent.pop(node, None)
        for uid in sorted(self.on_node.pop(node, ())):
            life = self.lives.get(uid)
            if life is None:
                continue
            if life.record.ended is None:
                self._end(life, self.leaving.get(node, "evicted"), noticed=False)
            wait = (
                0.0
                if of_daemon_set(life.pod) or life.pod["metadata"].get("deletionTimestamp")
                else COLLECTED
            )
            self.clock.after(wait, lambda uid=uid: self._collect(uid))  # type: ignore[misc]
        self.leaving.pop(node, None)

    def _collect(self, uid: str) -> None:
        life = self.lives.get(uid)
        if life is None:
            return
        if (life.pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed"):
            condition = {
                **_DISRUPTED,
                "reason": "DeletionByPodGC",
                "lastTransitionTime": pod_status.real_time(),
            }
            status = pod_status.ended(life.pod, "Failed", 137, "Error")
            self._status(
                life.pod,
                {**status, "conditions": [*status["conditions"], condition]},
                then_delete=True,
            )
        else:
            self._delete(life.pod)

    def _why(self, life: Life) -> records.PodEnd:
        return life.ending or self.leaving.get(life.node) or "removed"

    def _end(self, life: Life, how: records.PodEnd, *, noticed: bool = True) -> None:
        own = life.record
        own.ended, own.how = self.clock.now, how
        if life.needs is None or own.started is None or how == "succeeded":
            return
        life.tokens += 1
        saved, on_notice = self.progress[own.work], life.saved_at(self.clock.now)
        # Who saves has stopped working; STOP or a short grace is counted as work that is lost.
        until = self.clock.now if on_notice is None else max(on_notice, own.started)
        done = min(saved + until - own.started, life.needs)
        at_checkpoints = (
            max(saved, done // life.checkpoint * life.checkpoint) if life.checkpoint else 0.0
        )
        kept = at_checkpoints if on_notice is None else done
        own.lost = done - kept
        self.progress[own.work] = kept
        if how != "failed":
            self.executor.end(life.pod["metadata"]["uid"], done / life.needs, noticed=noticed)

    def _gone(self, uid: str) -> None:
        life = self.lives.pop(uid, None)
        if life:
            self.on_node.get(life.node, set()).discard(uid)
        if life and life.record.ended is None:
            self._end(life, self._why(life))

    def _status(self, pod: Object, status: dict[str, Any], *, then_delete: bool = False) -> None:
        metadata = pod["metadata"]

        def send(client: Client) -> Object:
            answer = client.patch(
                "v1", "Pod", metadata["name"], metadata["namespace"], {"status": status}, "status"
            )
            if then_delete:
                client.delete("v1", "Pod", metadata["name"], metadata["namespace"], at_once=True)
            return answer

        self.observed.request(send, missing=True)

    def _delete(self, pod: Object) -> None:
        metadata = pod["metadata"]
        phase = (pod.get("status") or {}).get("phase")
        status = (
            None
            if phase in ("Succeeded", "Failed")
            else pod_status.ended(pod, "Failed", 143, "Error")
        )

        def send(client: Client) -> None:
            if status is not None:
                client.patch(
                    "v1",
                    "Pod",
                    metadata["name"],
                    metadata["namespace"],
                    {"status": status},
                    "status",
                )
            client.delete("v1", "Pod", metadata["name"], metadata["namespace"], at_once=True)

        self.observed.request(send, missing=True)


def of_daemon_set(pod: Object) -> bool:
    """Whether a pod belongs to its node."""
    owner = controller(pod)
    return bool(owner and owner["kind"] == "DaemonSet")
