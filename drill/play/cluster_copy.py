"""The copy of a cluster: what a stack and its users have declared in it, in another control plane.

Not copied: what Kubernetes makes by itself (children of other objects, defaults of each namespace, its own roles and priorities),
nodes, pods, events and leases.
"""

import time
from collections.abc import Iterator

from sandbox.base.errors import SandboxError
from sandbox.kubernetes.api_errors import ApiError
from sandbox.kubernetes.client import Client, Object

_MANAGER = "sandbox-drill"
_SKIPPED = {
    *(
        "Node",
        "Pod",
        "Event",
        "Lease",
        "Endpoints",
        "EndpointSlice",
        "ControllerRevision",
        "CSINode",
        "VolumeAttachment",
    ),
    *(
        "APIService",
        "FlowSchema",
        "PriorityLevelConfiguration",
        "CertificateSigningRequest",
        "PersistentVolume",
    ),
    *(
        "ComponentStatus",
        "StorageVersion",
        "StorageVersionMigration",
        "ServiceCIDR",
        "IPAddress",
        "PodTemplate",
    ),
}
_FIRST = ("Namespace", "CustomResourceDefinition", "PriorityClass", "ServiceAccount")
"""Kinds that others need."""
_LAST = (
    "ValidatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
)
"""Kinds that might refuse a copy."""
_CONFIG_MAPS = (
    *("kube-root-ca.crt", "extension-apiserver-authentication"),
    "kube-apiserver-legacy-service-account-token-tracking",
)
_BOOTSTRAPPED = "kubernetes.io/bootstrapping"
_SECONDS = 20.0
_RBAC = "rbac.authorization.k8s.io/v1"
_SPEAKERS = ("system:kube-scheduler", "system:controller:job-controller")


def copy(source: Client, target: Client) -> int:
    """Copy what was declared; the number of objects. Raises SandboxError for an object that the copy refuses."""
    objects = sorted(_declared(source), key=lambda body: _rank(body["kind"]))
    for body in objects:
        _create(target, _bare(body))
    return len(objects)


def _rank(kind: str) -> int:
    if kind in _FIRST:
        return _FIRST.index(kind)
    return len(_FIRST) + (kind in _LAST)


def _declared(source: Client) -> Iterator[Object]:
    for api_version, kind in source.kinds():
        if kind in _SKIPPED:
            continue
        for body in source.list(api_version, kind):
            if not _made(kind, body):
                yield {**body, "apiVersion": api_version, "kind": kind}


def _made(kind: str, body: Object) -> bool:
    """Whether Kubernetes makes an object by itself."""
    metadata = body["metadata"]
    name = metadata["name"]
    if metadata.get("deletionTimestamp") or _BOOTSTRAPPED in (metadata.get("labels") or {}):
        return True
    if any(owner.get("controller") for owner in metadata.get("ownerReferences") or []):
        return True
    match kind:
        case "ConfigMap":
            return name in _CONFIG_MAPS
        case "ServiceAccount":
            return name == "default" and not metadata.get("labels")
        case "Service":
            return (metadata["namespace"], name) == ("default", "kubernetes")
        case "PriorityClass":
            return bool(name.startswith("system-"))
        case "Namespace":
            return name in (
                "default",
                "kube-system",
                "kube-public",
                "kube-node-lease",
            ) and not _labelled(metadata)
        case "Secret":
            return body.get("type") == "kubernetes.io/service-account-token"
        case "ClusterRole" | "ClusterRoleBinding" | "Role" | "RoleBinding":
            return bool(name.startswith("system:"))
    return False


def _labelled(metadata: Object) -> bool:
    return bool(set(metadata.get("labels") or {}) - {"kubernetes.io/metadata.name"})


def _bare(body: Object) -> Object:
    """An object as somebody would declare it."""
    metadata = {
        k: v
        for k, v in body["metadata"].items()
        if k in ("name", "namespace", "labels", "annotations")
    }
    bare = {key: value for key, value in body.items() if key not in ("status", "metadata")} | {
        "metadata": metadata
    }
    if body["kind"] == "Service":
        bare["spec"] = {
            k: v for k, v in body["spec"].items() if k not in ("clusterIP", "clusterIPs")
        }
    if body["kind"] == "PersistentVolumeClaim":
        bare["spec"] = {key: value for key, value in body["spec"].items() if key != "volumeName"}
        metadata["annotations"] = {
            key: value
            for key, value in metadata.get("annotations", {}).items()
            if "volume.kubernetes.io" not in key
        }
    if body["kind"] == "ServiceAccount":
        bare.pop("secrets", None)
    return bare


def _create(target: Client, body: Object) -> None:
    """Apply; a kind that was just defined is served a moment later."""
    until = time.monotonic() + _SECONDS
    while True:
        try:
            target.apply(body, _MANAGER, force=True)
            return
        except ApiError as refused:
            if refused.status != 404 or time.monotonic() > until:
                name = body["metadata"]["name"]
                raise SandboxError(
                    f"the drill's copy of the cluster refuses {body['kind']} {name}: {refused}"
                ) from refused
            time.sleep(0.05)


def refuse_events(target: Client) -> None:
    """Take the right to write events from those who write most of them: nobody reads them, and they are a quarter of all
    writes."""
    for name in _SPEAKERS:
        role = target.get(_RBAC, "ClusterRole", name)
        assert role is not None
        rules = [rule for rule in role["rules"] if "events" not in rule.get("resources", ())]
        target.patch(_RBAC, "ClusterRole", name, None, {"rules": rules})


def await_policies(target: Client) -> None:
    """Wait until admission policies are in force: the API server takes up new ones about once a second, all at once.

    A policy of its own, made last, is asked until it refuses. Raises SandboxError.
    """
    name = "drill-probe"
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["configmaps"],
    }
    policy = {
        "matchConstraints": {"resourceRules": [{**rule, "resourceNames": [name]}]},
        "validations": [{"expression": "false", "message": name}],
    }
    group = "admissionregistration.k8s.io/v1"
    parts: list[tuple[str, Object]] = [
        ("ValidatingAdmissionPolicy", policy),
        ("ValidatingAdmissionPolicyBinding", {"policyName": name, "validationActions": ["Deny"]}),
    ]
    for kind, spec in parts:
        target.apply(
            {"apiVersion": group, "kind": kind, "metadata": {"name": name}, "spec": spec}, _MANAGER
        )
    probe = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
    }
    until = time.monotonic() + _SECONDS
    while True:
        try:
            target.apply(probe, _MANAGER, dry_run=True)
        except ApiError as refused:
            if name not in str(refused):
                raise
            break
        if time.monotonic() > until:
            raise SandboxError(
                f"admission policies are not in force after {_SECONDS:.0f} s in the drill's copy of the cluster"
            )
        time.sleep(0.1)
    for kind, _ in reversed(parts):
        target.delete(group, kind, name)
