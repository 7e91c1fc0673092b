"""The cluster's objects as a drill observes them, and its requests to the API server.

Watches keep lists up to date; answers to own requests count at once. Everything is handled in the
drill's own thread.
"""

import queue
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from threading import Thread
from typing import Any

from sandbox.autoscaler.api import ApiServer, Unanswered
from sandbox.base.errors import SandboxError
from sandbox.kubernetes.client import ApiError, Client, Object

PATHS = {
    "Pod": "/api/v1/pods",
    "Node": "/api/v1/nodes",
    "Job": "/apis/batch/v1/jobs",
    "StatefulSet": "/apis/apps/v1/statefulsets",
    "DaemonSet": "/apis/apps/v1/daemonsets",
    "PodDisruptionBudget": "/apis/policy/v1/poddisruptionbudgets",
}
_THREADS = 4
_MANY = 5

Listener = Callable[[str, Object | None, Object | None], None]
"""Gets the kind and the object before and after; None before a new one and after a lost one."""
Request = Callable[[Client], Any]
Pause = Callable[[], AbstractContextManager[None]]
"""Pauses the scheduler."""


class Observed:
    """The objects of PATHS, and of further kinds, by uid: `observed.objects["Pod"]`."""

    def __init__(
        self,
        api: ApiServer,
        client: Client,
        listener: Listener,
        pause: Pause,
        more: Mapping[str, str] | None = None,
    ) -> None:
        """`more` are further kinds with their paths."""
        self.paths = PATHS | dict(more or {})
        self._api, self._client, self._listener, self._pause = api, client, listener, pause
        self.objects: dict[str, dict[str, Object]] = {kind: {} for kind in self.paths}
        self._gone: set[str] = set()
        self._events: queue.SimpleQueue[tuple[str, str, Any]] = queue.SimpleQueue()
        self._workers = ThreadPoolExecutor(_THREADS, "requests")
        self._requests: list[tuple[Request, bool]] = []
        self._in_turn: list[tuple[Request, bool]] = []
        self._closed = False
        self.changes = 0
        """Changes so far, of any kind."""

    def start(self) -> None:
        """List everything, then watch in threads."""
        for kind, path in self.paths.items():
            listed = self._api.get(path)
            if listed is None:
                raise SandboxError(f"the drill's API server does not have {path}")
            for item in listed["items"]:
                self._put(kind, item)
            version = listed["metadata"]["resourceVersion"]
            Thread(
                target=self._watch, args=(kind, path, version), daemon=True, name=f"watch {kind}"
            ).start()

    def close(self) -> None:
        """End the threads."""
        self._closed = True
        self._workers.shutdown(cancel_futures=True)

    def request(self, request: Request, *, missing: bool = False, in_turn: bool = False) -> None:
        """Send a request at the next `flush`; with `missing` a 404 or a conflict is no error.

        Requests `in_turn` are sent first, one after the other: the scheduler takes the first of
        equal nodes.
        """
        (self._in_turn if in_turn else self._requests).append((request, missing))

    def flush(self) -> None:
        """Send the requests and wait for the answers. Raises ApiError for the first that failed.

        The scheduler is paused while many are sent. Otherwise it would try every waiting pod again
        for each of a hundred new nodes. A few requests are sent one after the other, in the same
        order in every run.
        """
        if len(self._in_turn) + len(self._requests) < _MANY:
            self._in_turn += self._requests
            self._requests = []
        one_by_one, self._in_turn = self._in_turn, []
        requests, self._requests = self._requests, []
        with self._pause() if len(one_by_one) + len(requests) >= _MANY else nullcontext():
            for request, missing in one_by_one:
                self._answered(partial(request, self._client), missing)
            sent = [
                (self._workers.submit(each, self._client), missing) for each, missing in requests
            ]
            for future, missing in sent:
                self._answered(future.result, missing)

    def _answered(self, answered: Callable[[], Any], missing: bool) -> None:
        try:
            answer = answered()
        except ApiError as refused:
            if missing and refused.status in (404, 409):
                return
            raise
        if isinstance(answer, dict) and answer.get("kind") in PATHS and "uid" in answer["metadata"]:
            self._put(answer["kind"], answer)

    def drain(self, wait: float) -> bool:
        """Handle events; wait so many seconds for the first. Return whether there was any."""
        any_event = False
        while True:
            try:
                patient = wait > 0 and not any_event
                kind, change, item = self._events.get(patient, wait)
            except queue.Empty:
                return any_event
            any_event = True
            if change == "LOST":
                if not self._closed:
                    raise SandboxError(f"the drill's API server ended the watch of {kind}: {item}")
            elif change == "DELETED":
                self._remove(kind, item)
            else:
                self._put(kind, item)

    def _put(self, kind: str, item: Object) -> None:
        metadata = item["metadata"]
        metadata.pop("managedFields", None)
        uid = metadata["uid"]
        before = self.objects[kind].get(uid)
        known = int(before["metadata"]["resourceVersion"]) if before else -1
        if uid in self._gone or known >= int(metadata["resourceVersion"]):
            return
        self.objects[kind][uid] = item
        self.changes += 1
        self._listener(kind, before, item)

    def _remove(self, kind: str, item: Object) -> None:
        uid = item["metadata"]["uid"]
        self._gone.add(uid)
        if before := self.objects[kind].pop(uid, None):
            self.changes += 1
            self._listener(kind, before, None)

    def _watch(self, kind: str, path: str, version: str) -> None:
        while not self._closed:
            try:
                for event in self._api.watch(path, version):
                    if event["type"] == "ERROR":
                        raise Unanswered(str(event["object"].get("message")))
                    version = event["object"]["metadata"]["resourceVersion"]
                    self._events.put((kind, event["type"], event["object"]))
            except Exception as error:
                self._events.put((kind, "LOST", error))
                return


def controller(item: Object) -> Object | None:
    """Return the owner reference of an object's controller."""
    owners: Iterable[Object] = item["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller")), None)
