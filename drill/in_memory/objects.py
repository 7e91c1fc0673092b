"""Objects in memory, in place of an API server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any

from drill.play.observed import PATHS, Listener
from drill.world.workloads import WORK
from sandbox.kubernetes.client import ApiError, Object

_ENDED = ("Succeeded", "Failed")


class Objects:
    """The objects of a cluster by kind and uid, with the calls of `Observed` and `Client`.

    Requests are done at the next `flush`, in their order. A changed object is a new one, so that
    the old one can be compared with it.
    """

    def __init__(
        self,
        listener: Listener,
        first: Iterable[Object],
        maps: Mapping[tuple[str, str], Object],
        admit: Callable[[Object], Object] = lambda pod: pod,
    ) -> None:
        """Take the first objects, the ConfigMaps by namespace and name, and pods' admission."""
        self._admit = admit
        self.objects: dict[str, dict[str, Object]] = {kind: {} for kind in (*PATHS, "Deployment")}
        self._listener, self._first_objects, self._maps = listener, list(first), maps
        self._uids: dict[tuple[str, str, str], str] = {}
        self._numbers = count(1)
        self._requests: list[tuple[Callable[[Any], Any], bool]] = []
        self._first: list[tuple[Callable[[Any], Any], bool]] = []

    # The calls of `Observed`.

    def start(self) -> None:
        """Create the first objects."""
        for body in self._first_objects:
            self.create(body)

    def close(self) -> None:
        """Close nothing."""

    def request(
        self, request: Callable[[Any], Any], *, missing: bool = False, in_turn: bool = False
    ) -> None:
        """Keep a request for `flush`; with `missing` a 404 or a conflict is no error."""
        (self._first if in_turn else self._requests).append((request, missing))

    def flush(self) -> None:
        """Send the requests that were kept."""
        while self._first or self._requests:
            requests, self._first, self._requests = [*self._first, *self._requests], [], []
            for request, missing in requests:
                try:
                    request(self)
                except ApiError as refused:
                    if not missing or refused.status not in (404, 409):
                        raise

    def drain(self, wait: float) -> bool:
        """Return False: events are handled at once."""
        return False

    # The calls of `Client`.

    def get(
        self, api_version: str, kind: str, name: str, namespace: str | None = None
    ) -> Object | None:
        """Return an object; None if it is missing."""
        if kind == "ConfigMap":
            return self._maps.get((namespace or "", name))
        uid = self._uids.get((kind, namespace or "", name))
        return None if uid is None else self.objects[kind][uid]

    def apply(
        self, body: Object, field_manager: str, *, dry_run: bool = False, force: bool = False
    ) -> Object:
        """Return a namespace: there are none here."""
        return body

    def create(self, body: Object) -> Object:
        """Create an object and return it. Raises ApiError for a name that exists."""
        if body["kind"] == "Pod" and WORK in (body["metadata"].get("annotations") or {}):
            body = self._admit(body)
        kind, metadata = body["kind"], body["metadata"]
        place = (kind, metadata.get("namespace") or "", metadata["name"])
        if place in self._uids:
            raise ApiError(409, f'{kind} "{metadata["name"]}" already exists')
        uid = f"{kind.lower()}-{next(self._numbers)}"
        made = {**body, "metadata": {**metadata, "uid": uid}}
        made.setdefault("status", {})
        self._uids[place] = uid
        self.objects[kind][uid] = made
        self._listener(kind, None, made)
        return made

    def patch(
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None,
        change: Object,
        part: str = "",
    ) -> Object:
        """Merge a change into an object, if it exists: conditions by type, other lists whole."""
        before = self.get(api_version, kind, name, namespace)
        return {} if before is None else self.replace(kind, before, _merged(before, change))

    def replace(self, kind: str, before: Object, after: Object) -> Object:
        """Replace an object by a changed one."""
        self.objects[kind][before["metadata"]["uid"]] = after
        self._listener(kind, before, after)
        return after

    def delete(
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None = None,
        *,
        at_once: bool = False,
    ) -> None:
        """Delete an object; a running pod has its grace period, unless `at_once`."""
        before = self.get(api_version, kind, name, namespace)
        if before is None:
            return
        if kind == "Pod" and _is_running(before) and not at_once:
            self._end(before, float(before["spec"].get("terminationGracePeriodSeconds", 30)))
            return
        self._uids.pop((kind, namespace or "", name))
        del self.objects[kind][before["metadata"]["uid"]]
        self._listener(kind, before, None)

    def evict(self, name: str, namespace: str, grace: int) -> bool:
        """Evict a pod. The work of a drill has no PodDisruptionBudgets."""
        pod = self.get("v1", "Pod", name, namespace)
        if pod is not None and not pod["metadata"].get("deletionTimestamp"):
            if _is_running(pod):
                self._end(pod, grace)
            else:
                self.delete("v1", "Pod", name, namespace, at_once=True)
        return True

    def _end(self, pod: Object, grace: float) -> None:
        if not pod["metadata"].get("deletionTimestamp"):
            ending = {"deletionTimestamp": "now", "deletionGracePeriodSeconds": grace}
            self.replace("Pod", pod, {**pod, "metadata": {**pod["metadata"], **ending}})


def _is_running(pod: Object) -> bool:
    return bool(pod["spec"].get("nodeName")) and pod["status"].get("phase") not in _ENDED


def _merged(before: Any, change: Any) -> Any:
    if not isinstance(before, dict) or not isinstance(change, dict):
        return change
    merged = dict(before)
    for key, value in change.items():
        if value is None:
            merged.pop(key, None)
        elif key == "conditions":
            kept = {each["type"]: each for each in merged.get(key) or ()}
            merged[key] = [*{**kept, **{each["type"]: each for each in value}}.values()]
        else:
            merged[key] = _merged(merged.get(key), value)
    return merged
