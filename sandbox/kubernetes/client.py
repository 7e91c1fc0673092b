"""Objects of a real API server as plain dicts: server-side apply, get, list, delete.

Plain HTTP: the client library takes 0.4 s to import and asks for every group of the API before its first request.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from sandbox.base.errors import SandboxError
from sandbox.kubernetes.kubeconfig import access


class Unreachable(SandboxError):
    """No API server answers at the address of the kubeconfig."""


class ApiError(SandboxError):
    """The API server refuses a request. The text is its own message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


Object = dict[str, Any]

_SECONDS = 60
"""The API server itself gives a webhook 30."""
_AT_ONCE = 4
"""Requests, each over a connection of its own: more would spend more time on making connections than on their answers."""
_ASKED_AGAIN = 10
"""As often as client-go does (rest/request.go, maxRetries)."""


class Client:
    """One API server, for any number of threads. Every method may raise `Unreachable` or `ApiError`.

    Raises `Unusable` for a kubeconfig that cannot be used. `close` it at the end.
    """

    def __init__(self, kubeconfig: str | Path) -> None:
        self._access = access(kubeconfig.read_text() if isinstance(kubeconfig, Path) else kubeconfig)
        self._lock, self._discovery = Lock(), Lock()
        self._turns = BoundedSemaphore(_AT_ONCE)
        self._idle: list[HTTPConnection] = []
        self._closed = False
        self._kinds: dict[str, dict[str, Object]] = {}

    def namespaced(self, body: Object) -> bool:
        return bool(self._kind(body["apiVersion"], body["kind"])["namespaced"])

    def kinds(self) -> list[tuple[str, str]]:
        """Return every kind that can be listed and created, with the preferred version of its group."""
        groups = [group["preferredVersion"]["groupVersion"] for group in self._request("GET", "/apis")["groups"]]
        return [
            (version, kind)
            for version in ("v1", *groups)
            for kind, resource in self._served(version).items()
            if {"list", "create"} <= set(resource["verbs"])
        ]

    def apply(self, body: Object, field_manager: str, *, dry_run: bool = False, force: bool = False) -> Object:
        """Apply the whole object server-side in that manager's name; return it as the server then has it."""
        metadata = body["metadata"]
        path = self._path(body["apiVersion"], body["kind"], metadata.get("namespace"), metadata["name"])
        options = {"fieldManager": field_manager, "force": str(force).lower(), **({"dryRun": "All"} if dry_run else {})}
        # JSON is YAML.
        return self._request("PATCH", f"{path}?{urlencode(options)}", body, "application/apply-patch+yaml")

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """Return the object, or None when it is missing."""
        try:
            return self._request("GET", self._path(api_version, kind, namespace, name))
        except ApiError as refused:
            if refused.status == 404:
                return None
            raise

    def list(self, api_version: str, kind: str, namespace: str | None = None, label_selector: str = "") -> list[Object]:
        """Return all objects of a kind, in all namespaces unless `namespace` is given."""
        path = self._path(api_version, kind, namespace)
        items: list[Object] = self._request("GET", f"{path}?{urlencode({'labelSelector': label_selector})}")["items"]
        return items

    def create(self, body: Object) -> Object:
        """Create an object; return it as the server then has it."""
        path = self._path(body["apiVersion"], body["kind"], body["metadata"].get("namespace"))
        return self._request("POST", path, body)

    def patch(
        self, api_version: str, kind: str, name: str, namespace: str | None, change: Object, part: str = ""
    ) -> Object:
        """Apply a strategic merge patch to an object, or to its `part`, such as `status`; return the object."""
        path = self._path(api_version, kind, namespace, name) + (f"/{part}" if part else "")
        return self._request("PATCH", path, change, "application/strategic-merge-patch+json")

    def delete(
        self, api_version: str, kind: str, name: str, namespace: str | None = None, *, at_once: bool = False
    ) -> None:
        """Delete it with its dependants, `at_once` without its grace period; a missing object is no error."""
        options = {"propagationPolicy": "Background", **({"gracePeriodSeconds": 0} if at_once else {})}
        with _missing_is_no_error():
            self._request("DELETE", self._path(api_version, kind, namespace, name), options)

    def patch_status(
        self, api_version: str, kind: str, name: str, status: Object, namespace: str | None = None
    ) -> None:
        """Change parts of an object's status, lists by their keys; a missing object is no error."""
        with _missing_is_no_error():
            self.patch(api_version, kind, name, namespace, {"status": status}, "status")

    def evict(self, name: str, namespace: str, grace: int) -> bool:
        """Ask for a pod's eviction with so many seconds of grace at most; False while a disruption budget forbids it."""
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
            "deleteOptions": {"gracePeriodSeconds": grace},
        }
        try:
            with _missing_is_no_error():
                self._request("POST", f"{self._path('v1', 'Pod', namespace, name)}/eviction", body)
        except ApiError as refused:
            if refused.status == 429:
                return False
            raise
        return True

    def close(self) -> None:
        """End the connections."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _path(self, api_version: str, kind: str, namespace: str | None, name: str = "") -> str:
        resource = self._kind(api_version, kind)
        within = ["namespaces", namespace] if namespace and resource["namespaced"] else []
        parts = [*within, resource["name"], *([name] if name else [])]
        return "/".join([_group(api_version), *(quote(part, safe="") for part in parts)])

    def _kind(self, api_version: str, kind: str) -> Object:
        """Return the server's description of a kind; requested once for all kinds of a version, and again for a kind
        that was missing.
        """
        known = self._kinds.get(api_version)
        if known is None or kind not in known:
            with self._discovery:
                # Another thread may have asked meanwhile.
                if self._kinds.get(api_version) is known:
                    self._kinds[api_version] = self._served(api_version)
            known = self._kinds[api_version]
        if kind not in known:
            raise ApiError(404, f'no matches for kind "{kind}" in version "{api_version}"')
        return known[kind]

    def _served(self, api_version: str) -> dict[str, Object]:
        """Return the kinds of a version by name; none where the server does not have the version."""
        try:
            resources = self._request("GET", _group(api_version))["resources"]
        except ApiError as refused:
            if refused.status == 404:
                return {}
            raise
        # `pods/log` is part of a pod.
        return {resource["kind"]: resource for resource in resources if "/" not in resource["name"]}

    def _request(self, method: str, path: str, body: Object | None = None, kind: str = "application/json") -> Object:
        headers = {**self._access.headers, "Accept": "application/json"}
        content = None if body is None else json.dumps(body)
        if content is not None:
            headers["Content-Type"] = kind
        for _ in range(_ASKED_AGAIN):
            status, reason, text, wait = self._answer(method, path, content, headers)
            if wait is None:
                break
            time.sleep(wait)
        if status >= 300:
            raise ApiError(status, _message(text) or reason)
        try:
            reply: Object = json.loads(text)
        except ValueError as wrong:
            raise ApiError(status, f"what answers at {self._access.server} is no API server") from wrong
        return reply

    def _answer(
        self, method: str, path: str, body: str | None, headers: dict[str, str]
    ) -> tuple[int, str, bytes, float | None]:
        """Return status, reason, content, and the seconds after which the server wants to be asked again.

        The connection is kept.
        """
        with self._turns:
            while True:
                connection, kept = self._connection()
                try:
                    connection.request(method, urlsplit(self._access.server).path + path, body, headers)
                    answer = connection.getresponse()
                    reply = answer.status, answer.reason, answer.read(), _wait(answer)
                except (OSError, HTTPException) as silent:
                    connection.close()
                    if kept and not isinstance(silent, TimeoutError):
                        # The server has ended it meanwhile; all requests here may be made twice.
                        continue
                    raise Unreachable(self._access.server) from silent
                except BaseException:
                    connection.close()
                    raise
                self._keep(connection)
                return reply

    def _connection(self) -> tuple[HTTPConnection, bool]:
        """Return a connection nobody uses, and whether it was used before."""
        with self._lock:
            if self._idle:
                return self._idle.pop(), True
        return self._connect(), False

    def _connect(self) -> HTTPConnection:
        server = urlsplit(self._access.server)
        if server.scheme == "http":
            return HTTPConnection(server.hostname or "", server.port, timeout=_SECONDS)
        if self._access.server_name:
            return _Named(self._access.server_name, server.hostname or "", server.port, self._access.trust)
        return HTTPSConnection(server.hostname or "", server.port, timeout=_SECONDS, context=self._access.trust)

    def _keep(self, connection: HTTPConnection) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()


class _Named(HTTPSConnection):
    """A connection to a server whose certificate has another name than its address."""

    def __init__(self, name: str, host: str, port: int | None, trust: Any) -> None:
        super().__init__(host, port, timeout=_SECONDS, context=trust)
        self._name, self._trust = name, trust

    def connect(self) -> None:
        HTTPConnection.connect(self)
        self.sock = self._trust.wrap_socket(self.sock, server_hostname=self._name)


@contextmanager
def _missing_is_no_error() -> Iterator[None]:
    try:
        yield
    except ApiError as refused:
        if refused.status != 404:
            raise


def _wait(answer: HTTPResponse) -> float | None:
    """Return the seconds of `Retry-After`, which a server sends that is not ready yet: "storage is (re)initializing".

    client-go asks again by the same rule (rest/with_retry.go: 429 or 5xx, with the header).
    """
    after = answer.getheader("Retry-After", "")
    return float(after) if (answer.status == 429 or answer.status >= 500) and after.isdigit() else None


def _group(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _message(text: bytes) -> str:
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        return ""
