"""The API server as the loops use it: single requests, and lists that keep themselves up to date.

Python's own HTTP client: the client library takes 30 MB and half a second to import, in a process that mostly waits.
"""

import json
import ssl
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, cast
from urllib.parse import urlencode

Object = dict[str, Any]

_TIMEOUT = 10  # seconds
_WATCH = 300  # seconds until a list is fetched anew
_RETRY = 1.0  # seconds until a silent server is asked again


class Unanswered(Exception):
    """The API server does not answer, or answers with an error."""


class ApiServer:
    """The API server of the control plane in a folder, as the sandbox's administrator."""

    def __init__(self, directory: Path, port: int) -> None:
        certificates = directory / "certificates"
        self._port = port
        self._trust = ssl.create_default_context(cafile=str(certificates / "ca.crt"))
        self._trust.load_cert_chain(certificates / "admin.crt", certificates / "admin.key")

    def get(self, path: str) -> Object | None:
        """Return an object or list; None for a 404. Raises Unanswered."""
        return self._answer("GET", path)

    def patch(self, path: str, body: Object, kind: str = "merge") -> None:
        """Patch an object; a missing one is no error. Raises Unanswered."""
        self._answer("PATCH", path, json.dumps(body), f"application/{kind}-patch+json")

    def create(self, path: str, body: Object) -> None:
        """Create an object in the list at a path; an existing one of that name stays. Raises Unanswered."""
        if self._answer("POST", path, json.dumps(body), "application/json") is None:
            raise Unanswered(f"POST {path}: 404")

    def warn(self, of: Object, reason: str, message: str, component: str) -> None:
        """Create a warning, an event of an object, in its namespace. Raises Unanswered."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": f"{of['name']}.", "namespace": of["namespace"]},
            "involvedObject": {"apiVersion": "v1", **of},
            "type": "Warning",
            "reason": reason,
            "message": message,
            "source": {"component": component},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
        self.create(f"/api/v1/namespaces/{of['namespace']}/events", event)

    def delete(self, path: str) -> None:
        """Delete an object; a missing one is no error. Raises Unanswered."""
        self._answer("DELETE", path)

    def watch(self, path: str, version: str) -> Iterator[Object]:
        """Yield the events after a version of a list, until the server ends it. Raises Unanswered."""
        parameters = urlencode({"watch": "1", "resourceVersion": version, "timeoutSeconds": _WATCH})
        connection = self._connection(_WATCH + _TIMEOUT)
        try:
            connection.request("GET", f"{path}?{parameters}")
            answer = connection.getresponse()
            if answer.status != 200:
                raise Unanswered(f"watch of {path}: {answer.status}")
            for line in answer:
                yield json.loads(line)
        except (OSError, HTTPException, ValueError) as error:
            raise Unanswered(f"watch of {path}: {error}") from error
        finally:
            connection.close()

    def _answer(self, method: str, path: str, body: str | None = None, kind: str = "") -> Object | None:
        connection = self._connection(_TIMEOUT)
        try:
            connection.request(method, path, body, {"Content-Type": kind} if kind else {})
            answer = connection.getresponse()
            text = answer.read()
            if answer.status == 404:
                return None
            if answer.status == 409 and method == "POST":
                return {}
            if answer.status >= 300:
                raise Unanswered(f"{method} {path}: {answer.status} {text[:200]!r}")
            return cast(Object, json.loads(text))
        except (OSError, HTTPException, ValueError) as error:
            raise Unanswered(f"{method} {path}: {error}") from error
        finally:
            connection.close()

    def _connection(self, timeout: float) -> HTTPSConnection:
        return HTTPSConnection("127.0.0.1", self._port, timeout=timeout, context=self._trust)


class Mirror:
    """All objects of one kind, kept up to date by a watch; every change sets `changed`."""

    def __init__(self, api: ApiServer, path: str, changed: Event) -> None:
        self._api, self._path, self._changed = api, path, changed
        self._lock = Lock()
        self._objects: dict[str, Object] | None = None

    def start(self) -> None:
        """Begin to watch, in a thread that ends with the process."""
        Thread(target=self._listen, daemon=True, name=self._path).start()

    def objects(self) -> list[Object] | None:
        """Return the objects now; None while the server does not answer."""
        with self._lock:
            return None if self._objects is None else list(self._objects.values())

    def _listen(self) -> None:
        while True:
            try:
                self._follow()
            except Unanswered:
                self._set(None)
                time.sleep(_RETRY)

    def _follow(self) -> None:
        listed = self._api.get(self._path)
        if listed is None:
            raise Unanswered(self._path)
        self._set({item["metadata"]["uid"]: _slim(item) for item in listed["items"]})
        for event in self._api.watch(self._path, listed["metadata"]["resourceVersion"]):
            if event["type"] == "ERROR":
                return  # the version is too old: list again
            changed = event["object"]
            uid = changed["metadata"]["uid"]
            with self._lock:
                assert self._objects is not None
                if event["type"] == "DELETED":
                    self._objects.pop(uid, None)
                else:
                    self._objects[uid] = _slim(changed)
            self._changed.set()

    def _set(self, objects: dict[str, Object] | None) -> None:
        with self._lock:
            self._objects = objects
        self._changed.set()


def _slim(item: Object) -> Object:
    item["metadata"].pop("managedFields", None)
    return item
