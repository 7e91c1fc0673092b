"""The kubelets of a drill: the lives of pods on their nodes by the drill's clock, and their work.

Images arrive after a few seconds. A Job's pod works for as long as its annotation says, less what
an earlier pod of the same work has saved: at its checkpoints, and after SIGTERM if its grace is
long enough for a save (docs/workloads.md).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from drill.play.clock import Clock
from drill.play.observed import Observed, controller
from drill.play.pod_life import Executor, Life, Nothing, ended_status, running_status
from drill.world import record as records
from drill.world.workloads import CHECKPOINT, GPUS, INDEX, PIECE, ROLE, RUN_FOR, SAVE, SPOT, WORK
from sandbox.kubernetes.client import Client, Object

START = 5.0
"""Seconds from the binding of a pod to its start. Assumed: the image is on the node, or small."""
STOP = 2.0
"""Seconds from SIGTERM to the end of a pod. Assumed."""
LEAST = 1.0
"""The shortest run of a container, which finds all its work done. Assumed."""
COLLECTED = 56.0
"""Seconds from the end of a node to the end of its pods, as recorded (pkg/controller/podgc)."""

_COLLECTED = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC"}


@dataclass
class Kubelets:
    """The kubelets of all nodes."""

    clock: Clock
    observed: Observed
    pools: dict[str, str]
    """Pool by node."""
    reach: Callable[[Object], tuple[str, ...]]
    """Gives the pools that a pod's selectors allow."""
    lives: dict[str, Life] = field(default_factory=dict)
    pods: list[records.Pod] = field(default_factory=list)
    work: dict[str, records.Work] = field(default_factory=dict)
    progress: dict[str, float] = field(default_factory=dict)
    """Seconds of work that are saved."""
    leaving: dict[str, records.PodEnd] = field(default_factory=dict)
    """Nodes that pods are leaving, with the reason."""
    on_node: dict[str, set[str]] = field(default_factory=dict)
    """Pods by node."""
    names: dict[str, str] = field(default_factory=dict)
    """The names of nodes in the record, if they differ there."""
    silent: dict[str, list[Callable[[], None]]] = field(default_factory=dict)
    """Nodes whose kubelet does not answer, with what it does when it answers again."""
    executor: Executor = field(default_factory=Nothing)

    def answer(self, node: str) -> None:
        """Let a silent kubelet answer again."""
        for action in self.silent.pop(node, []):
            action()

    def _waits(self, uid: str, action: Callable[[], None]) -> bool:
        life = self.lives.get(uid)
        waiting = self.silent.get(life.node) if life else None
        if waiting is not None:
            waiting.append(action)
        return waiting is not None

    def work_on(self, node: str) -> list[str]:
        """List the work that runs on a node."""
        lives = (self.lives[uid].record for uid in self.on_node.get(node, ()))
        return sorted(life.work for life in lives if life.ended is None and life.work)

    def note_change(self, before: Object | None, pod: Object | None) -> None:
        """Take note of a pod that is new, changed or gone."""
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
        """Send SIGTERM to a pod; return the seconds until it ends or is killed after its grace."""
        life = self.lives[uid]
        if life.told is None:
            life.told = self.clock.now
        return min(grace, STOP if life.save is None else life.save)

    def alive(self, uid: str) -> Life | None:
        """Return the life of a pod that has not ended."""
        life = self.lives.get(uid)
        return life if life and life.record.ended is None else None

    def _start(self, uid: str) -> None:
        life = self.alive(uid)
        if life is None or _is_leaving(life.pod) or life.node not in self.pools:
            return
        if self._waits(uid, lambda: self._start(uid)):
            return
        life.record.started = self.clock.now
        self._status(life.pod, running_status(life.pod))
        if life.needs is not None:
            life.tokens += 1
            token = life.tokens
            remaining = max(LEAST, life.needs - self.progress[life.record.work])
            self.clock.after(remaining, lambda: self._finish(uid, token))
            self.executor.start(uid, life.pod)

    def _finish(self, uid: str, token: int) -> None:
        life = self.alive(uid)
        if life is None or life.tokens != token:
            return
        if self._waits(uid, lambda: self._finish(uid, token)):
            return
        code = self.executor.finish(uid)
        self._end(life, "failed" if code else "succeeded")
        if life.work and not code:
            life.work.times += 1
            if life.work.finished is None:
                life.work.finished = self.clock.now
        how = ("Failed", code, "Error") if code else ("Succeeded", 0, "Completed")
        self._status(life.pod, ended_status(life.pod, *how))

    def _stop(self, uid: str) -> None:
        """Delete a pod that was asked to end."""
        life = self.lives.get(uid)
        if life is None or self._waits(uid, lambda: self._stop(uid)):
            return
        if life.record.ended is None:
            self._end(life, self._why(life))
        self._delete(life.pod)

    def terminate(self, uid: str, condition: Object) -> None:
        """End a pod of a kubelet that shuts down; it stays as a failed one."""
        life = self.alive(uid)
        if life is None or life.node in self.silent:
            return
        self._end(life, "evicted")
        status = ended_status(life.pod, "Failed", 143, "Terminated", condition)
        # The pod has the condition's message (pkg/kubelet/nodeshutdown). Argo reads it first.
        own = {"reason": "Terminated", "message": condition.get("message", "")}
        self._status(life.pod, {**status, **own})

    def lost(self, node: str) -> None:
        """End all that ran on a lost machine; its pods are collected some time later."""
        self.pools.pop(node, None)
        self.silent.pop(node, None)
        for uid in sorted(self.on_node.pop(node, ())):
            life = self.lives.get(uid)
            if life is None:
                continue
            if life.record.ended is None:
                self._end(life, self.leaving.get(node, "evicted"), noticed=False)
            wait = 0.0 if of_daemon_set(life.pod) or _is_leaving(life.pod) else COLLECTED
            self.clock.after(wait, lambda uid=uid: self._collect(uid))  # type: ignore[misc]
        self.leaving.pop(node, None)

    def _collect(self, uid: str) -> None:
        life = self.lives.get(uid)
        if life is None:
            return
        if _has_ended(life.pod):
            self._delete(life.pod)
        else:
            status = ended_status(life.pod, "Failed", 137, "Error", _COLLECTED)
            self._status(life.pod, status, then_delete=True)

    def _why(self, life: Life) -> records.PodEnd:
        return life.ending or self.leaving.get(life.node) or "removed"

    def _end(self, life: Life, how: records.PodEnd, *, noticed: bool = True) -> None:
        own = life.record
        own.ended, own.how = self.clock.now, how
        if life.needs is None or own.started is None or how == "succeeded":
            return
        life.tokens += 1
        saved, on_notice = self.progress[own.work], life.saved_at(self.clock.now)
        # A pod that saves does not work. STOP, or a grace that is too short, counts as lost work.
        until = self.clock.now if on_notice is None else max(on_notice, own.started)
        done = min(saved + until - own.started, life.needs)
        kept = done
        if on_notice is None:
            every = life.checkpoint
            kept = max(saved, done // every * every) if every else 0.0
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

    def _status(self, pod: Object, status: Object, *, then_delete: bool = False) -> None:
        self.observed.request(
            lambda client: _change(client, pod, status, delete=then_delete), missing=True
        )

    def _delete(self, pod: Object) -> None:
        status = None if _has_ended(pod) else ended_status(pod, "Failed", 143, "Error")

        def send(client: Client) -> None:
            _change(client, pod, status, delete=True)

        self.observed.request(send, missing=True)


def _change(client: Client, pod: Object, status: Object | None, *, delete: bool) -> Object | None:
    """Write a pod's status if there is a new one, then delete the pod if asked."""
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    answer = None
    if status is not None:
        answer = client.patch("v1", "Pod", name, namespace, {"status": status}, "status")
    if delete:
        client.delete("v1", "Pod", name, namespace, at_once=True)
    return answer


def _has_ended(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _is_leaving(pod: Object) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


def of_daemon_set(pod: Object) -> bool:
    """Return whether a pod belongs to a DaemonSet."""
    owner = controller(pod)
    return bool(owner and owner["kind"] == "DaemonSet")
