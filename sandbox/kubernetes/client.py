"""Objects of a real API server as plain dicts: server-side apply, get, delete."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

import yaml
from kubernetes import config
from kubernetes.client import ApiClient
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient
from kubernetes.dynamic.exceptions import ResourceNotFoundError
from urllib3.exceptions import HTTPError

from sandbox.kubernetes.errors import ApiError, Unreachable

Object = dict[str, Any]


class Client:
    """One API server. Every method may raise `Unreachable` or `ApiError`."""

    def __init__(self, kubeconfig: str | Path) -> None:
        content = kubeconfig.read_text() if isinstance(kubeconfig, Path) else kubeconfig
        self._api: ApiClient = config.new_client_from_config_dict(yaml.safe_load(content))
        self._api.configuration.retries = False
        self._dynamic: DynamicClient | None = None
        self._discovery = Lock()
        self._scratch = TemporaryDirectory(prefix="kubeflow-spot-")

    def _kind(self, api_version: str, kind: str) -> Any:
        try:
            with self._discovery:
                if self._dynamic is None:
                    # The library's default cache is one file for each host and port in the common temp folder: a cluster of
                    # another version that once had this port would lend its kinds.
                    cache = Path(self._scratch.name) / "discovery.json"
                    self._dynamic = DynamicClient(self._api, cache_file=str(cache))
                return self._dynamic.resources.get(api_version=api_version, kind=kind)
        except ResourceNotFoundError as missing:
            raise ApiError(404, f'no matches for kind "{kind}" in version "{api_version}"') from missing
        except HTTPError as silent:
            raise Unreachable(str(self._api.configuration.host)) from silent

    def _call(self, verb: str, api_version: str, kind: str, **arguments: Any) -> Any:
        resource = self._kind(api_version, kind)
        try:
            return getattr(resource, verb)(**arguments)
        except ApiException as refused:
            raise ApiError(refused.status or 0, _message(refused)) from refused
        except HTTPError as silent:
            raise Unreachable(str(self._api.configuration.host)) from silent

    def namespaced(self, body: Object) -> bool:
        return bool(self._kind(body["apiVersion"], body["kind"]).namespaced)

    def apply(self, body: Object, field_manager: str, *, dry_run: bool = False, force: bool = False) -> Object:
        """Server-side apply of the whole object in that manager's name; returns it as the server then has it."""
        options = {"dry_run": "All"} if dry_run else {}
        return _plain(
            self._call(
                "server_side_apply",
                body["apiVersion"],
                body["kind"],
                body=body,
                namespace=body["metadata"].get("namespace"),
                field_manager=field_manager,
                force_conflicts=force,
                **options,
            )
        )

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """The object, or None when there is none."""
        try:
            return _plain(self._call("get", api_version, kind, name=name, namespace=namespace))
        except ApiError as refused:
            if refused.status == 404:
                return None
            raise

    def list(self, api_version: str, kind: str, **selectors: Any) -> list[Object]:
        """All objects of a kind, in all namespaces unless `namespace` is given."""
        items: list[Object] = self._call("get", api_version, kind, **selectors).to_dict()["items"]
        return items

    def delete(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> None:
        """Delete it with its dependants; no error when there is none."""
        try:
            self._call(
                "delete",
                api_version,
                kind,
                name=name,
                namespace=namespace,
                body={"propagationPolicy": "Background"},
            )
        except ApiError as refused:
            if refused.status != 404:
                raise

    def close(self) -> None:
        self._api.close()
        self._scratch.cleanup()


def _plain(instance: Any) -> Object:
    found: Object = instance.to_dict()
    found["metadata"].pop("managedFields", None)
    return found


def _message(refused: ApiException) -> str:
    try:
        return str(yaml.safe_load(refused.body)["message"])
    except (yaml.YAMLError, KeyError, TypeError):
        return str(refused.reason)
