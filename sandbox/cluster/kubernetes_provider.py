"""The `kubernetes` provider as the engine sees it: every object goes by server-side apply to a real API server.

Behaviour follows pulumi-kubernetes 4.34 (provider/pkg/provider/{provider,diff}.go): replacements by field, DiffConfig with
a cluster identifier, objects that exist already refused, previews by server-side dry run while a cluster is reachable.

Deliberately does not: wait for rollouts, Helm, kustomize, `Patch` and `List` resources.
"""

from __future__ import annotations

import hashlib
from threading import Lock
from typing import Any

import yaml

from sandbox.cloud.differences import differences
from sandbox.cloud.provider import UNKNOWN, Diff, Failure, Props, Provider, Refused, Resource, contains_unknown
from sandbox.kubernetes.client import Client
from sandbox.kubernetes.errors import ApiError, Unreachable
from sandbox.kubernetes.kubeconfig import Unusable

_FORCE_NEW = {
    "DaemonSet": ("spec.selector",),
    "Deployment": ("spec.selector",),
    "StatefulSet": (
        "spec.podManagementPolicy",
        "spec.revisionHistoryLimit",
        "spec.selector",
        "spec.serviceName",
        "spec.volumeClaimTemplates",
    ),
    "ClusterRoleBinding": ("roleRef",),
    "RoleBinding": ("roleRef",),
    "Job": ("spec.completions", "spec.parallelism", "spec.selector", "spec.template"),
    "StorageClass": ("parameters", "provisioner"),
    "Secret": ("type",),
    "ResourceQuota": ("spec.scopes",),
    "PodDisruptionBudget": ("spec",),
}
"""diff.go, table forceNew, the kinds this project may declare."""

_INTERNAL = ("__fieldManager", "__inputs")


class KubernetesProvider(Provider):
    """One configured instance: one kubeconfig."""

    sdk = "pulumi-kubernetes"

    def __init__(self) -> None:
        self._kubeconfig: str | None = None
        self._settings: Props = {}
        self._connecting = Lock()
        self._connected: Client | None = None

    def check_config(self, inputs: Props) -> list[Failure]:
        known = {
            "kubeconfig", "context", "cluster", "clusterIdentifier", "namespace", "enableServerSideApply",
            "enableConfigMapMutable", "enableSecretMutable", "deleteUnreachable", "skipUpdateUnreachable",
            "suppressDeprecationWarnings", "upsertExistingObjects", "version",
        }  # fmt: skip
        return [
            Failure(key, f"unknown property '{key}'") for key in inputs if key not in known and not key.startswith("__")
        ]

    def diff_config(self, old: Props, new: Props) -> Diff:
        changes = dict(differences(old, new))
        replaces: set[str] = set()
        same_identifier = new.get("clusterIdentifier") and old.get("clusterIdentifier") == new["clusterIdentifier"]
        if not same_identifier:
            # "We can't tell for sure if a computed value has changed, so [..] force a replacement", DiffConfig
            unknown = {key for key in ("kubeconfig", "context", "cluster") if new.get(key) == UNKNOWN}
            changed_server = "kubeconfig" in changes and _server(old.get("kubeconfig")) != _server(
                new.get("kubeconfig")
            )
            replaces = unknown or ({"kubeconfig"} if changed_server else set())
            if old.get("clusterIdentifier") and new.get("clusterIdentifier"):
                replaces.add("clusterIdentifier")
        return Diff(changes, replaces & changes.keys())

    def configure(self, inputs: Props) -> None:
        self.close()
        self._settings = inputs
        kubeconfig = inputs.get("kubeconfig")
        self._kubeconfig = None if kubeconfig in (None, "", UNKNOWN) else str(kubeconfig)

    def check(self, resource: Resource) -> tuple[Props, list[Failure]]:
        inputs = dict(resource.inputs)
        failures = [
            Failure(key, f"missing required property '{key}'") for key in ("apiVersion", "kind") if not inputs.get(key)
        ]
        metadata = dict(inputs.get("metadata") or {})
        if not metadata.get("name"):
            old = (resource.old_inputs.get("metadata") or {}).get("name")
            metadata["name"] = old or f"{resource.name}-{_digest(resource.urn)}"
            metadata["annotations"] = {**metadata.get("annotations", {}), "pulumi.com/autonamed": "true"}
        inputs["metadata"] = metadata
        return inputs, failures

    def diff(self, resource: Resource) -> Diff:
        changes = dict(differences(resource.old_inputs, resource.inputs))
        forced = ["apiVersion", "kind", "metadata.name", "metadata.namespace", *self._force_new(resource.inputs)]
        replaces = {path for path in changes if any(path == f or path.startswith((f"{f}.", f"{f}[")) for f in forced)}
        autonamed = (resource.inputs.get("metadata") or {}).get("annotations", {}).get("pulumi.com/autonamed")
        return Diff(changes, replaces, delete_before_replace=bool(replaces) and not autonamed)

    def _force_new(self, inputs: Props) -> tuple[str, ...]:
        kind = str(inputs.get("kind"))
        mutable = "enableSecretMutable" if kind == "Secret" else "enableConfigMapMutable"
        if kind in ("ConfigMap", "Secret") and (inputs.get("immutable") or not _true(self._settings.get(mutable))):
            return ("data", "binaryData", "stringData", *_FORCE_NEW.get(kind, ()))
        return _FORCE_NEW.get(kind, ())

    def create(self, resource: Resource) -> tuple[str, Props]:
        body = _body(resource.inputs)
        if resource.preview:
            return "", self._dry_run(resource, body)
        client = self._client()
        try:
            self._place(client, body)
            upsert = _true(self._settings.get("upsertExistingObjects"))
            if not upsert and client.get(
                body["apiVersion"], body["kind"], body["metadata"]["name"], body["metadata"].get("namespace")
            ):
                raise Refused(
                    f"resource {_title(body)} was not successfully created: the resource already exists in the cluster"
                )
            live = client.apply(body, _manager(resource), force=_forced(body))
        except (ApiError, Unreachable) as refused:
            raise Refused(
                f"resource {_title(body)} was not successfully created by the Kubernetes API server: {refused}"
            ) from refused
        return _id(body), _outputs(live, resource)

    def find(self, resource: Resource) -> tuple[str, Props] | None:
        """The object that a create would make, as (id, outputs), where the cluster has it already."""
        body = _body(resource.inputs)
        try:
            client = self._client()
            self._place(client, body)
            live = client.get(
                body["apiVersion"], body["kind"], body["metadata"]["name"], body["metadata"].get("namespace")
            )
        except (ApiError, Unreachable) as refused:
            raise Refused(f"looking for {_title(body)}: {refused}") from refused
        return (_id(body), _outputs(live, resource)) if live else None

    def read(self, resource: Resource) -> tuple[Props, Props] | None:
        old = resource.old_inputs
        namespace, _, name = resource.id.rpartition("/")
        try:
            live = self._client().get(old["apiVersion"], old["kind"], name, namespace or None)
        except (ApiError, Unreachable) as refused:
            raise Refused(f"reading {resource.id}: {refused}") from refused
        if live is None:
            return None
        return _like(live, old), _outputs(live, resource)

    def update(self, resource: Resource) -> Props:
        body = _body(resource.inputs)
        if resource.preview:
            return self._dry_run(resource, body)
        client = self._client()
        try:
            self._place(client, body)
            live = client.apply(body, _manager(resource), force=_forced(body))
        except (ApiError, Unreachable) as refused:
            raise Refused(
                f"resource {_title(body)} was not successfully updated by the Kubernetes API server: {refused}"
            ) from refused
        return _outputs(live, resource)

    def delete(self, resource: Resource) -> None:
        old = resource.old_inputs or resource.old_outputs
        namespace, _, name = resource.id.rpartition("/")
        try:
            self._client().delete(old["apiVersion"], old["kind"], name, namespace or None)
        except ApiError as refused:
            raise Refused(f"deleting {resource.id}: {refused}") from refused
        except Unreachable as silent:
            if not _true(self._settings.get("deleteUnreachable")):
                raise Refused(f"configured Kubernetes cluster is unreachable: {silent}") from silent

    def _client(self) -> Client:
        if self._kubeconfig is None:
            raise Refused("configured Kubernetes cluster is unreachable: the provider has no kubeconfig")
        with self._connecting:
            if self._connected is None:
                try:
                    self._connected = Client(self._kubeconfig)
                except Unusable as unusable:
                    raise Refused(
                        "configured Kubernetes cluster is unreachable: unable to load Kubernetes client configuration from"
                        f" kubeconfig file: {unusable}"
                    ) from unusable
            return self._connected

    def close(self) -> None:
        with self._connecting:
            if self._connected:
                self._connected.close()
                self._connected = None

    def _dry_run(self, resource: Resource, body: Props) -> Props:
        """What the object would look like; the inputs alone while that cannot be asked."""
        inputs = resource.inputs
        if self._kubeconfig is None or contains_unknown(body):
            return inputs
        client = self._client()
        try:
            self._place(client, body)
            # Without a live object of ours the real provider always forces a preview (await.go, patchForce).
            live = client.apply(body, _manager(resource), dry_run=True, force=_forced(body) or not resource.id)
        except Unreachable:
            return inputs
        except ApiError as refused:
            if refused.status == 404:
                # The namespace or the kind may be made by the same update.
                return inputs
            raise Refused(
                f"resource {_title(body)} would be refused by the Kubernetes API server: {refused}"
            ) from refused
        return {key: value for key, value in live.items() if key in inputs}

    def _place(self, client: Client, body: Props) -> None:
        if client.namespaced(body):
            body["metadata"].setdefault("namespace", self._settings.get("namespace") or "default")


def _body(inputs: Props) -> Props:
    body = {key: value for key, value in inputs.items() if key not in _INTERNAL}
    body["metadata"] = dict(body["metadata"])
    return body


def _id(body: Props) -> str:
    namespace = body["metadata"].get("namespace")
    return f"{namespace}/{body['metadata']['name']}" if namespace else str(body["metadata"]["name"])


def _title(body: Props) -> str:
    return f"{body.get('kind')} {_id(body)!r}"


def _outputs(live: Props, resource: Resource) -> Props:
    return {**live, "__fieldManager": _manager(resource)}


def _forced(body: Props) -> bool:
    """Whether fields that another manager has are taken from it (await.go, patchForce)."""
    return _true((body["metadata"].get("annotations") or {}).get("pulumi.com/patchForce"))


def _manager(resource: Resource) -> str:
    """One field manager an object, as the real provider has: two declarations of one object then conflict."""
    return f"pulumi-kubernetes-{_digest(resource.urn)}"


def _like(live: Any, old: Any) -> Any:
    """The live values at the places the old inputs name: defaults that the server added are no drift."""
    if isinstance(old, dict) and isinstance(live, dict):
        return {key: _like(live[key], value) for key, value in old.items() if key in live}
    if isinstance(old, list) and isinstance(live, list) and len(old) == len(live):
        return [_like(one, other) for one, other in zip(live, old, strict=True)]
    return live


def _server(kubeconfig: Any) -> Any:
    try:
        return [cluster["cluster"]["server"] for cluster in yaml.safe_load(kubeconfig)["clusters"]]
    except (TypeError, KeyError, AttributeError, yaml.YAMLError):
        return kubeconfig


def _true(value: Any) -> bool:
    return value is True or value == "true"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
