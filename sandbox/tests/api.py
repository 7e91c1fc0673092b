"""Client of the API server for any user: requests as plain JSON, with impersonation and dry run."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import urllib3

from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.control_plane.ports import read_ports
from sandbox.tests.subjects import DEV, Words

Object = dict[str, Any]


class Refused(Exception):
    """The API server's refusal, with its message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


class Api:
    """One API server; requests are the administrator's unless a user is named.

    A user `system:serviceaccount:<namespace>:<name>` has a service account's groups, which impersonation adds by itself
    (kubernetes.io/docs/reference/access-authn-authz/user-impersonation). Objects are written and read in the corpus' `words`. Every
    method may raise Refused.
    """

    def __init__(self, plane: ControlPlane, words: Words | None = None) -> None:
        ports = read_ports(plane.directory / "ports.json")
        certificates = plane.directory / "certificates"
        self.server = f"https://127.0.0.1:{ports['kube-apiserver']}"
        self._words = words or Words(DEV)
        self._pool = urllib3.PoolManager(
            ca_certs=str(certificates / "ca.crt"),
            cert_file=str(certificates / "admin.crt"),
            key_file=str(certificates / "admin.key"),
            maxsize=8,
            retries=False,
        )

    def request(
        self,
        method: str,
        path: str,
        body: Object | None = None,
        *,
        user: str | None = None,
        groups: tuple[str, ...] = (),
        content: str = "application/json",
    ) -> Object:
        """Send a request; the path starts with /api and may end with a query."""
        headers = urllib3.HTTPHeaderDict({"Content-Type": content})
        if user:
            headers["Impersonate-User"] = user
        for group in groups:
            headers.add("Impersonate-Group", group)
        text = None if body is None else json.dumps(self._words.write(body))
        answer = self._pool.request(method, self.server + path, body=text, headers=headers)
        result: Object = self._words.read(answer.json()) if answer.data else {}
        if answer.status >= 400:
            raise Refused(answer.status, result.get("message", ""))
        return result

    def warnings(self, wanted: Object) -> list[str]:
        """Return the API server's warnings on a dry run of a create."""
        answer = self._pool.request(
            "POST", self.server + collection(wanted) + "?dryRun=All", json=self._words.write(wanted)
        )
        assert answer.status == 201, answer.data
        return answer.headers.getlist("Warning")

    def text(self, path: str) -> str:
        """Return the text of a path that is not JSON, such as /metrics."""
        return str(self._pool.request("GET", self.server + path).data.decode())

    def create(
        self, wanted: Object, *, user: str | None = None, groups: tuple[str, ...] = (), dry_run: bool = False
    ) -> Object:
        """Create an object; a dry run returns the object after admission without creating it."""
        query = "?dryRun=All" if dry_run else ""
        return self.request("POST", collection(wanted) + query, wanted, user=user, groups=groups)

    @contextmanager
    def created(self, *wanted: Object, user: str | None = None) -> Iterator[list[Object]]:
        """Create objects; yield them as the server has them, and delete them in the end."""
        try:
            yield [self.create(body, user=user) for body in wanted]
        finally:
            for body in reversed(wanted):
                self.delete(body)

    def create_once(self, wanted: Object) -> None:
        """Create an object unless it is there."""
        try:
            self.create(wanted)
        except Refused as refused:
            if refused.status != 409:
                raise

    def list(self, api_version: str, kind: str, namespace: str | None = None) -> list[Object]:
        """Return all objects of a kind, or those in a namespace."""
        metadata = {"namespace": namespace} if namespace else {}
        example = {"apiVersion": api_version, "kind": kind, "metadata": metadata}
        items: list[Object] = self.request("GET", collection(example))["items"]
        return items

    def get(self, target: Object) -> Object:
        """Return the current state of an object."""
        return self.request("GET", f"{collection(target)}/{target['metadata']['name']}")

    def exists(self, target: Object) -> bool:
        """Return whether there is such an object."""
        try:
            return bool(self.get(target))
        except Refused as refused:
            if refused.status != 404:
                raise
            return False

    def patch(self, target: Object, change: Object, subresource: str = "", **who: Any) -> Object:
        """Merge a change into an object."""
        path = f"{collection(target)}/{target['metadata']['name']}{subresource}"
        return self.request("PATCH", path, change, content="application/merge-patch+json", **who)

    def delete(self, target: Object) -> None:
        """Delete an object at once and its dependants after it; a missing object is no error."""
        options = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
        try:
            self.request("DELETE", f"{collection(target)}/{target['metadata']['name']}", options)
        except Refused as refused:
            if refused.status != 404:
                raise

    def clear(self, api_version: str, kind: str, namespace: str) -> None:
        """Delete every object of a kind in a namespace at once."""
        options = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
        example = {"apiVersion": api_version, "kind": kind, "metadata": {"namespace": namespace}}
        self.request("DELETE", collection(example), options)

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()


def collection(target: Object) -> str:
    """Return the path of the objects of the same kind and namespace. The plural follows English rules."""
    group, kind = target["apiVersion"], target["kind"].lower()
    root = f"/api/{group}" if group == "v1" else f"/apis/{group}"
    namespace = target["metadata"].get("namespace")
    plural = f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}es" if kind.endswith("s") else f"{kind}s"
    return f"{root}/namespaces/{namespace}/{plural}" if namespace else f"{root}/{plural}"
