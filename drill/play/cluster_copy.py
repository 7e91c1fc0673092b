"""The copy of a cluster: the objects that a stack and its users declare, in another control plane.

Not copied: objects that Kubernetes makes by itself (children of other objects, defaults of each
namespace, its own roles and priorities), nodes, pods, events and leases.
"""

import time
from collections.abc import Iterator

from sandbox.base.errors import SandboxError
from sandbox.kubernetes.client import ApiError, Client, Object

_MANAGER = "sandbox-drill"
_SKIPPED = {
    *("Node", "Pod", "Event", "Lease", "Endpoints", "EndpointSlice", "ControllerRevision"),
    *("CSINode", "VolumeAttachment", "APIService", "FlowSchema", "PriorityLevelConfiguration"),
    *("CertificateSigningRequest", "PersistentVolume", "ComponentStatus", "StorageVersion"),
    *("StorageVersionMigration", "ServiceCIDR", "IPAddress", "PodTemplate"),
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


def copy_cluster(source: Client, target: Client) -> int:
    """Copy the declared objects, and return their number.

    Raises SandboxError for an object that the copy refuses.
    """
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
            if not _by_kubernetes(kind, body):
                yield {**body, "apiVersion": api_version, "kind": kind}


def _by_kubernetes(kind: str, body: Object) -> bool:
    """Return whether Kubernetes makes an object by itself."""
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
            own = ("default", "kube-system", "kube-public", "kube-node-lease")
            return name in own and not _labelled(metadata)
        case "Secret":
            return body.get("type") == "kubernetes.io/service-account-token"
        case "ClusterRole" | "ClusterRoleBinding" | "Role" | "RoleBinding":
            return bool(name.startswith("system:"))
    return False


def _labelled(metadata: Object) -> bool:
    return bool(set(metadata.get("labels") or {}) - {"kubernetes.io/metadata.name"})


def _bare(body: Object) -> Object:
    """Return an object as a user would declare it."""
    metadata = {
        key: body["metadata"][key]
        for key in ("name", "namespace", "labels", "annotations")
        if key in body["metadata"]
    }
    bare = {**_without(body, "status"), "metadata": metadata}
    if body["kind"] == "Service":
        bare["spec"] = _without(body["spec"], "clusterIP", "clusterIPs")
    if body["kind"] == "PersistentVolumeClaim":
        bare["spec"] = _without(body["spec"], "volumeName")
        notes = metadata.get("annotations", {})
        bound = [key for key in notes if "volume.kubernetes.io" in key]
        metadata["annotations"] = _without(notes, *bound)
    if body["kind"] == "ServiceAccount":
        bare.pop("secrets", None)
    return bare


def _without(body: Object, *keys: str) -> Object:
    return {key: value for key, value in body.items() if key not in keys}


def _create(target: Client, body: Object) -> None:
    """Apply an object; wait for a kind that was just defined."""
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
    """Take the right to write events from the scheduler and the Job controller.

    Events are not read here, and they are a quarter of all writes.
    """
    for name in _SPEAKERS:
        role = target.get(_RBAC, "ClusterRole", name)
        assert role is not None
        rules = [rule for rule in role["rules"] if "events" not in rule.get("resources", ())]
        target.patch(_RBAC, "ClusterRole", name, None, {"rules": rules})


def await_policies(target: Client) -> None:
    """Wait until admission policies are in force, by a probe policy that is written last.

    The API server reads new policies about once a second, all at once. Raises SandboxError.
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
    metadata = {"name": name, "namespace": "default"}
    probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
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
                f"admission policies are not in force after {_SECONDS:.0f} s"
                " in the drill's copy of the cluster"
            )
        time.sleep(0.1)
    for kind, _ in reversed(parts):
        target.delete(group, kind, name)
