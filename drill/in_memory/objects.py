"""Objects in memory, in place of an API server: what a drill asks of its client and of its watches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any

from drill.play.observed import PATHS, Listener
from drill.world.workloads import WORK
from sandbox.kubernetes.api_errors import ApiError
from sandbox.kubernetes.client import Object

_ENDED = ("Succeeded", "Failed")


class Objects:
    """The objects of a cluster by kind and uid. Requests that are put down are done at the next `flush`, in their order.

    An object that changes is a new one, so that whoever keeps the old one can compare.
    """

    def __init__(
        self,
        listener: Listener,
        made: Iterable[Object],
        maps: Mapping[tuple[str, str], Object],
        admit: Callable[[Object], Object] = lambda pod: pod,
    ) -> None:
        """`made` are objects that exist from the begin, `maps` ConfigMaps by namespace and name; `admit` admits pods of work."""
        self._admit = admit
        self.objects: dict[str, dict[str, Object]] = {kind: {} for kind in (*PATHS, "Deployment")}
        self._listener, self._made, self._maps = listener, list(made), maps
        self._uids: dict[tuple[str, str, str], str] = {}
        self._numbers = count(1)
        self._requests: list[tuple[Callable[[Any], Any], bool]] = []
        self._first: list[tuple[Callable[[Any], Any], bool]] = []

    # What a drill asks of `Observed`.

    def start(self) -> None:
        """Make the objects that exist from the begin."""
        for body in self._made:
            self.create(body)

    def close(self) -> None:
        """Nothing is open."""

    def request(
        self, request: Callable[[Any], Any], *, missing: bool = False, in_turn: bool = False
    ) -> None:
        """Put down a request; with `missing` a 404 or a conflict is no error."""
        (self._first if in_turn else self._requests).append((request, missing))

    def flush(self) -> None:
        """Do what was put down."""
        while self._first or self._requests:
            requests, self._first, self._requests = [*self._first, *self._requests], [], []
            for request, missing in requests:
                try:
                    request(self)
                except ApiError as refused:
                    if not missing or refused.status not in (404, 409):
                        raise

    def drain(self, wait: float) -> bool:
        """Handle what has come: it was handled when it came."""
        return False

    # What a drill asks of `Client`.

    def get(
        self, api_version: str, kind: str, name: str, namespace: str | None = None
    ) -> Object | None:
        """The object, or None when it is missing."""
        if kind == "ConfigMap":
            return self._maps.get((namespace or "", name))
        uid = self._uids.get((kind, namespace or "", name))
        return None if uid is None else self.objects[kind][uid]

    def apply(
        self, body: Object, field_manager: str, *, dry_run: bool = False, force: bool = False
    ) -> Object:
        """Apply a namespace: there are none here."""
        return body

    def create(self, body: Object) -> Object:
        """Create an object; returns it as it is then. Raises ApiError for a name that is taken."""
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
        """Merge a change into an object: conditions by their type, other lists as a whole. A missing object stays missing."""
        before = self.get(api_version, kind, name, namespace)
        return {} if before is None else self.replace(kind, before, _merged(before, change))

    def replace(self, kind: str, before: Object, after: Object) -> Object:
        """Put a changed object in the place of another."""
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
        """Delete an object; a pod on a node has its grace period, unless it has ended or `at_once`."""
        before = self.get(api_version, kind, name, namespace)
        if before is None:
            return
        placed = (
            kind == "Pod"
            and before["spec"].get("nodeName")
            and before["status"].get("phase") not in _ENDED
        )
        if placed and not at_once:
            self._end(before, float(before["spec"].get("terminationGracePeriodSeconds", 30)))
            return
        self._uids.pop((kind, namespace or "", name))
        del self.objects[kind][before["metadata"]["uid"]]
        self._listener(kind, before, None)

    def evict(self, name: str, namespace: str, grace: int) -> bool:
        """Evict a pod: no PodDisruptionBudget forbids it, the work of a drill has none."""
        pod = self.get("v1", "Pod", name, namespace)
        if pod is not None and not pod["metadata"].get("deletionTimestamp"):
            if pod["spec"].get("nodeName") and pod["status"].get("phase") not in _ENDED:
                self._end(pod, grace)
            else:
                self.delete("v1", "Pod", name, namespace, at_once=True)
        return True

    def _end(self, pod: Object, grace: float) -> None:
        if not pod["metadata"].get("deletionTimestamp"):
            ending = {"deletionTimestamp": "now", "deletionGracePeriodSeconds": grace}
            self.replace("Pod", pod, {**pod, "metadata": {**pod["metadata"], **ending}})


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
