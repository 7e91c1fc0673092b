"""The `kubernetes` provider for the engine: every object goes by server-side apply to a real API server.

Behaviour follows pulumi-kubernetes 4.34 (provider/pkg/provider/{provider,diff}.go): replacements by field, DiffConfig with
a cluster identifier, objects that exist already refused, previews by server-side dry run while a cluster is reachable.

Deliberately does not: wait for rollouts, Helm, kustomize, `Patch` and `List` resources.
"""

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import yaml

from sandbox.cloud.provider import (
    UNKNOWN,
    Diff,
    Failure,
    Props,
    Provider,
    Refused,
    Resource,
    contains_unknown,
    differences,
)
from sandbox.cluster import kubernetes_reads
from sandbox.kubernetes.client import ApiError, Client, Unreachable
from sandbox.kubernetes.kubeconfig import Unusable

_FORCE_NEW = {
    "DaemonSet": ("spec.selector",),
    "Deployment": ("spec.selector",),
    "StatefulSet": (
        *("spec.podManagementPolicy", "spec.revisionHistoryLimit"),
        *("spec.selector", "spec.serviceName", "spec.volumeClaimTemplates"),
    ),
    "ClusterRoleBinding": ("roleRef",),
    "RoleBinding": ("roleRef",),
    "Job": ("spec.completions", "spec.parallelism", "spec.selector", "spec.template"),
    "StorageClass": ("parameters", "provisioner"),
    "Secret": ("type",),
    "ResourceQuota": ("spec.scopes",),
    "PodDisruptionBudget": ("spec",),
}
"""diff.go, table forceNew: the kinds that this project may declare."""

_SETTINGS = {
    *("kubeconfig", "context", "cluster", "clusterIdentifier", "namespace", "enableServerSideApply"),
    *("enableConfigMapMutable", "enableSecretMutable", "deleteUnreachable", "skipUpdateUnreachable"),
    *("suppressDeprecationWarnings", "upsertExistingObjects", "enablePatchForce", "version"),
}
_INTERNAL = ("__fieldManager", "__inputs")
_UNREACHABLE = "configured Kubernetes cluster is unreachable"
VARIABLES = (PATCH_FORCE, DELETE_UNREACHABLE) = ("PULUMI_K8S_ENABLE_PATCH_FORCE", "PULUMI_K8S_DELETE_UNREACHABLE")
"""What the provider reads of the environment, where its settings do not say it."""
_REMEDY = (
    "If the cluster has been deleted, you can edit the pulumi state to remove this resource or retry with the "
    f"{DELETE_UNREACHABLE} environment variable set to true"
)


class _ClusterUnreachable(Refused):
    """Nobody answers at the kubeconfig's address, or the kubeconfig cannot be used."""


class KubernetesProvider(Provider):
    """One configured instance: one kubeconfig."""

    sdk = "pulumi-kubernetes"

    def __init__(self) -> None:
        self._kubeconfig: str | None = None
        self._settings: Props = {}
        self._connecting = Lock()
        self._connected: Client | None = None

    def check_config(self, inputs: Props) -> list[Failure]:
        unknown = [key for key in inputs if key not in _SETTINGS and not key.startswith("__")]
        return [Failure(key, f"unknown property '{key}'") for key in unknown]

    def diff_config(self, old: Props, new: Props) -> Diff:
        changes = dict(differences(old, new))
        replaces: set[str] = set()
        identifiers = old.get("clusterIdentifier"), new.get("clusterIdentifier")
        if not identifiers[1] or identifiers[0] != identifiers[1]:
            # "We can't tell for sure if a computed value has changed, so [..] force a replacement", DiffConfig
            unknown = {key for key in ("kubeconfig", "context", "cluster") if new.get(key) == UNKNOWN}
            moved = "kubeconfig" in changes and _server(old.get("kubeconfig")) != _server(new.get("kubeconfig"))
            replaces = unknown or ({"kubeconfig"} if moved else set())
            if all(identifiers):
                replaces.add("clusterIdentifier")
        return Diff(changes, replaces & changes.keys())

    def configure(self, inputs: Props) -> None:
        self.close()
        self._settings = inputs
        kubeconfig = inputs.get("kubeconfig")
        self._kubeconfig = None if kubeconfig in (None, "", UNKNOWN) else str(kubeconfig)

    def check(self, resource: Resource) -> tuple[Props, list[Failure]]:
        inputs = dict(resource.inputs)
        missing = [key for key in ("apiVersion", "kind") if not inputs.get(key)]
        metadata = dict(inputs.get("metadata") or {})
        if not metadata.get("name"):
            old = (resource.old_inputs.get("metadata") or {}).get("name")
            metadata["name"] = old or f"{resource.name}-{_digest(resource.urn)}"
            metadata["annotations"] = {**metadata.get("annotations", {}), "pulumi.com/autonamed": "true"}
        inputs["metadata"] = metadata
        return inputs, [Failure(key, f"missing required property '{key}'") for key in missing]

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
        problem = f"resource {_title(body)} was not successfully created"
        client = self._client()
        with _refusing(f"{problem} by the Kubernetes API server"):
            self._set_namespace(client, body)
            if not _true(self._settings.get("upsertExistingObjects")) and _live(client, body):
                raise Refused(f"{problem}: the resource already exists in the cluster")
            live = client.apply(body, _manager(resource), force=self._forced(body))
        return _id(body), _outputs(live, resource)

    def find(self, resource: Resource) -> tuple[str, Props] | None:
        """Return the object that a create would make, as (id, outputs), where the cluster has it already."""
        body = _body(resource.inputs)
        client = self._client()
        with _refusing(f"looking for {_title(body)}"):
            self._set_namespace(client, body)
            live = _live(client, body)
        return (_id(body), _outputs(live, resource)) if live else None

    def read(self, resource: Resource) -> tuple[Props, Props] | None:
        old = resource.old_inputs
        namespace, _, name = resource.id.rpartition("/")
        version, kind = (old["apiVersion"], old["kind"]) if old else kubernetes_reads.kind_of(resource.type)
        try:
            client = self._client()
            with _refusing(f"reading {resource.id}"):
                live = client.get(version, kind, name, namespace or None)
        except _ClusterUnreachable as silent:
            if self._deletes_unreachable():
                return None
            raise Refused(f"failed to read resource state due to unreachable cluster. {_REMEDY}: {silent}") from silent
        if live is None:
            return None
        return kubernetes_reads.like(live, old) if old else kubernetes_reads.inputs_of(live), _outputs(live, resource)

    def update(self, resource: Resource) -> Props:
        body = _body(resource.inputs)
        if resource.preview:
            return self._dry_run(resource, body)
        client = self._client()
        with _refusing(f"resource {_title(body)} was not successfully updated by the Kubernetes API server"):
            self._set_namespace(client, body)
            return _outputs(client.apply(body, _manager(resource), force=self._forced(body)), resource)

    def delete(self, resource: Resource) -> None:
        old = resource.old_inputs or resource.old_outputs
        namespace, _, name = resource.id.rpartition("/")
        try:
            client = self._client()
            with _refusing(f"deleting {resource.id}"):
                client.delete(old["apiVersion"], old["kind"], name, namespace or None)
        except _ClusterUnreachable:
            if not self._deletes_unreachable():
                raise

    def _forced(self, body: Props) -> bool:
        """Return whether an apply takes others' fields: by annotation, else setting, else environment (await.go, patchForce)."""
        annotations = body["metadata"].get("annotations") or {}
        default = self._settings.get("enablePatchForce", os.environ.get(PATCH_FORCE))
        return _true(annotations.get("pulumi.com/patchForce", default))

    def _deletes_unreachable(self) -> bool:
        """Return whether objects of a silent cluster leave the state: the setting, else the environment (provider.go)."""
        return _true(self._settings.get("deleteUnreachable", os.environ.get(DELETE_UNREACHABLE)))

    def _client(self) -> Client:
        if self._kubeconfig is None:
            raise Refused(f"{_UNREACHABLE}: the provider has no kubeconfig")
        with self._connecting:
            if self._connected is None:
                try:
                    self._connected = Client(self._kubeconfig)
                except Unusable as unusable:
                    reason = "unable to load Kubernetes client configuration from kubeconfig file"
                    raise _ClusterUnreachable(f"{_UNREACHABLE}: {reason}: {unusable}") from unusable
            return self._connected

    def close(self) -> None:
        with self._connecting:
            if self._connected:
                self._connected.close()
                self._connected = None

    def _dry_run(self, resource: Resource, body: Props) -> Props:
        """Return the object as the server would store it; the inputs alone while the server cannot be asked."""
        inputs = resource.inputs
        if self._kubeconfig is None or contains_unknown(body):
            return inputs
        client = self._client()
        try:
            self._set_namespace(client, body)
            # Without a live object of ours the real provider always forces a preview (await.go, patchForce).
            live = client.apply(body, _manager(resource), dry_run=True, force=self._forced(body) or not resource.id)
        except Unreachable:
            return inputs
        except ApiError as refused:
            if refused.status == 404:
                # The same update may make the namespace or the kind.
                return inputs
            raise Refused(
                f"resource {_title(body)} would be refused by the Kubernetes API server: {refused}"
            ) from refused
        return {key: value for key, value in live.items() if key in inputs}

    def _set_namespace(self, client: Client, body: Props) -> None:
        if client.namespaced(body):
            body["metadata"].setdefault("namespace", self._settings.get("namespace") or "default")


@contextmanager
def _refusing(problem: str) -> Iterator[None]:
    """Turn errors of the API server into a refusal."""
    try:
        yield
    except Unreachable as silent:
        raise _ClusterUnreachable(f"{_UNREACHABLE}: {problem}: {silent}") from silent
    except ApiError as error:
        raise Refused(f"{problem}: {error}") from error


def _live(client: Client, body: Props) -> Props | None:
    metadata = body["metadata"]
    return client.get(body["apiVersion"], body["kind"], metadata["name"], metadata.get("namespace"))


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


def _manager(resource: Resource) -> str:
    """Return a field manager for each resource, as the real provider does: two declarations of one object then conflict.

    It stays while the resource does, also when the stack is renamed. An import gets a new one, because the name has a random end
    (provider.go, fieldManagerName).
    """
    imported = bool(resource.id) and not resource.old_inputs and not resource.old_outputs
    end = secrets.token_hex(4) if imported else _digest(resource.urn)
    return str(resource.old_outputs.get("__fieldManager") or f"pulumi-kubernetes-{end}")


def _server(kubeconfig: Any) -> Any:
    try:
        return [cluster["cluster"]["server"] for cluster in yaml.safe_load(kubeconfig)["clusters"]]
    except (TypeError, KeyError, AttributeError, yaml.YAMLError):
        return kubeconfig


def _true(value: Any) -> bool:
    return value is True or value == "true"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
